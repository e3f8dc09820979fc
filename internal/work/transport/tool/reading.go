package tool

import (
	"cmp"
	"errors"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/said"
)

// reading is how a load generator's output is read.
type reading struct{ requests, errors said.Finder }

func readingOptions() []contract.Option {
	text := func(name, doc string) contract.Option {
		return contract.Option{Name: name, Type: contract.TypeText, Default: "", Roles: []contract.Role{contract.Client}, Doc: doc}
	}
	return []contract.Option{
		text("requests", "where it prints how many requests it completed: regexp:PATTERN with a group around the figure, or json:KEY.KEY; known of "+knownNames()),
		text("errors", "where it prints how many failed; all that is found is added up"),
	}
}

// newReading reads how a program is to be read from the options, and what they leave
// open from what is known of it.
func newReading(program string, o load.Options) (r reading, err error) {
	known := knownReadings[program]
	var problems []error
	find := func(name, other string) said.Finder {
		f, err := said.Parse(cmp.Or(o.Text(name), other))
		if err != nil {
			problems = append(problems, fmt.Errorf("option %s: %w", name, err))
		}
		return f
	}
	r.requests, r.errors = find("requests", known.requests), find("errors", known.errors)
	if len(problems) == 0 && r.requests.Empty() {
		problems = append(problems, fmt.Errorf("option requests is empty, and how %s prints its requests is not known here (known are %s): expected such as %q or %q",
			program, knownNames(), `regexp:(\d+) requests in`, "json:requests.count"))
	}
	return r, errors.Join(problems...)
}

// readPrinted finds a program's figures in what it printed.
func (c *command) readPrinted(printed said.Output) (selfReport, error) {
	r, own := c.reading, selfReport{values: map[string]float64{}}
	requests, found, err := r.requests.Sum(printed)
	if err == nil && !found {
		err = errors.New("it matches nothing that was printed")
	}
	if err != nil {
		return own, fmt.Errorf("option requests (%s): %w", r.requests, err)
	}
	failed, _, err := r.errors.Sum(printed) // none is no line of its own, mostly
	if err != nil {
		return own, fmt.Errorf("option errors (%s): %w", r.errors, err)
	}
	own.exchanges, own.failed = int64(requests), int64(failed)
	own.values["exchanges"] = requests
	return own, nil
}
