package httpwire

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/paths"
	"netdyno/internal/rows"
	"netdyno/internal/work/load"
)

// fillOptions declares what makes requests differ (contract/MIXES.md, section Data).
func fillOptions() []contract.Option {
	client, zero := []contract.Role{contract.Client}, 0.0
	return []contract.Option{
		{Name: "data", Type: contract.TypeText, Default: "", FileMax: 1 << 40, Roles: client, Doc: "file of rows that requests are filled with: path, headers and body are templates then"},
		{Name: "class_paths", Type: contract.TypeText, Default: "", FileMax: contract.MostClasses * paths.Longest, Roles: client, Doc: "with data and a workload: the path of each class, one a line in their order; an empty line keeps path"},
		{Name: "pick", Type: contract.TypeChoice, Default: "next", Choices: []string{"next", "random"}, Roles: client, Doc: "which row a request takes"},
		{Name: "data_first", Type: contract.TypeInt, Default: int64(0), Min: &zero, Roles: client, Doc: "number of the first request, for rows and what is made of numbers"},
	}
}

// fill is what requests are filled with.
type fill struct {
	source  *rows.Source
	further atomic.Uint64   // how many exchanges were made before the load that were no first ones
	verify  uint64          // numbers that first exchanges take
	path    rows.Template   // of URLs without the server; empty with option paths
	headers []rows.Template // by their places in Ask.Headers
	body    rows.Template
	classes []rows.Template // bodies
	paths   []rows.Template
}

// aside is where the numbers begin of exchanges that are neither first ones nor the load's.
const aside = 1 << 63

// fillOf reads the options; nil without rows. The error is of kind setup.
func (c *Client) fillOf() (*fill, error) {
	o := load.Options(c.Setup.Options)
	name := strings.TrimPrefix(o.Text("data"), "@")
	if name == "" {
		return nil, nil
	}
	file, err := rows.Open(name)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option data: %w", err))
	}
	f := &fill{
		source: rows.NewSource(file, c.Setup.Seed, uint64(o.Int("data_first")), o.Text("pick") == "random"),
		verify: uint64(c.Setup.Load.Connections),
	}
	template := func(option, text string) (t rows.Template) {
		if err == nil {
			if t, err = rows.ParseTemplate(text, file.Columns); err != nil {
				err = load.Failure(contract.SetupFailed, fmt.Errorf("option %s: %w", option, err))
			}
		}
		return t
	}
	if o.Text("paths") == "" {
		path, failed := pathOf(c.Setup)
		if failed != nil {
			return nil, failed
		}
		f.path = template("path", path)
	}
	f.body = template("body", string(c.Ask.Body))
	for _, field := range c.Ask.Headers {
		f.headers = append(f.headers, template("headers", field.Value))
	}
	given, failed := o.Given("class_paths", contract.MostClasses*paths.Longest)
	if failed != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option class_paths: %w", failed))
	}
	lines := strings.Split(given, "\n")
	for i, of := range c.classes {
		f.classes = append(f.classes, template("bodies", string(of.body)))
		path := rows.Template{}
		if i < len(lines) {
			path = template("class_paths", lines[i])
		}
		f.paths = append(f.paths, path)
	}
	return f, err
}

// filled makes the request of the exchange that differs from others.
func (k *call) filled() {
	f := k.client.fill
	if f == nil {
		return
	}
	n := uint64(k.request.Connection)
	if k.slot != nil {
		n = f.verify + k.drawn.Number
	} else if !k.first {
		n = aside + f.further.Add(1)
	}
	row := f.source.Of(n, k.drawn.Key)
	path, body, given := f.path, f.body, k.client.Ask.Body != nil
	if k.of != nil {
		path, body, given = f.paths[k.drawn.Class], f.classes[k.drawn.Class], k.of.body != nil
	}
	if path.Empty() {
		path = f.path
	}
	if !path.Empty() {
		k.request.URL = k.turns.base + string(path.Append(nil, row))
	}
	if given {
		k.room = body.Append(k.room[:0], row)
		k.request.Content = k.room
	}
	if k.slot != nil {
		k.slot.Carries(int64(len(k.request.Content)))
	}
	k.ask = *k.request.Ask
	k.ask.Headers = slices.Clone(k.ask.Headers)
	for i, value := range f.headers {
		k.ask.Headers[i] = head.Field{Name: k.ask.Headers[i].Name, Value: string(value.Append(nil, row))}
	}
	k.request.Ask = &k.ask
}
