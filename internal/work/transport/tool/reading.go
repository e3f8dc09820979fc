package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/said"
)

// reading is how a load generator's output is read.
type reading struct {
	program          string
	requests, errors said.Finder
	times            map[string]said.Finder // by the names of timesSaid, of those that it prints
	unit             float64                // seconds: of times without a unit of their own
}

// timesSaid are the times that are kept in result.own, in µs, as NAME_us.
var timesSaid = []string{"mean", "p50", "p90", "p99", "p999", "max"}

// timeUnits are the levels of option time_unit, in seconds.
var timeUnits = map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

func readingOptions() []contract.Option {
	roles := []contract.Role{contract.Client}
	text := func(name, doc string) contract.Option {
		return contract.Option{Name: name, Type: contract.TypeText, Default: "", Roles: roles, Doc: doc}
	}
	options := []contract.Option{
		text("requests", "where it prints how many requests it completed: regexp:PATTERN with a group around the figure, or json:KEY.KEY; known of "+knownNames()),
		text("errors", "where it prints how many failed; all that is found is added up"),
		{
			Name: "time_unit", Type: contract.TypeChoice, Default: "s", Choices: slices.SortedFunc(maps.Keys(timeUnits), func(a, b string) int { return strings.Compare(a, b) }),
			Roles: roles, Doc: "unit of times that it prints without one",
		},
	}
	for _, name := range timesSaid {
		options = append(options, text(name, "where it prints this time, of its whole run"))
	}
	return options
}

// newReading reads how a program is to be read from the options, and what they leave
// open from what is known of it.
func newReading(program string, o load.Options) (reading, error) {
	known := knownReadings[program]
	r := reading{program: program, unit: timeUnits[o.Text("time_unit")], times: map[string]said.Finder{}}
	var problems []error
	find := func(name, other string) said.Finder {
		text := o.Text(name)
		if text == "" {
			text = other
		}
		f, err := said.Parse(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("option %s: %w", name, err))
		}
		return f
	}
	r.requests, r.errors = find("requests", known.requests), find("errors", known.errors)
	for _, name := range timesSaid {
		if f := find(name, known.times[name]); !f.Empty() {
			r.times[name] = f
		}
	}
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
	for _, name := range timesSaid {
		f, asked := r.times[name]
		if !asked {
			continue
		}
		seconds, found, err := f.Seconds(printed, r.unit)
		if err == nil && !found && knownReadings[r.program].times[name] != f.String() {
			err = errors.New("it matches nothing that was printed")
		}
		if err != nil {
			return own, fmt.Errorf("option %s (%s): %w", name, f, err)
		}
		if found {
			own.values[name+"_us"] = seconds * 1e6
		}
	}
	return own, nil
}
