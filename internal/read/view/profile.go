package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	pprof "netdyno/internal/read/profile"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

const topFunctions = 20

// Profiles reads the probes' CPU profiles by cell, arm and end. What cannot be
// read is left out and warned of.
func Profiles(s *cells.Dataset) ([]Profile, []record.Warning) {
	var all []Profile
	var warnings []record.Warning
	leaveOut := func(v *trial.Judged, why string) {
		warnings = append(warnings, record.Warning{
			About: "profile", Text: fmt.Sprintf("the profile of probe %q is left out: %s", v.Plan.ID, why),
			Advice: "the other figures do not depend on probes",
		})
	}
	probes := map[cells.Key][]*trial.Judged{}
	for _, v := range s.Probes {
		if v.Record == nil {
			continue
		}
		if why := trial.UnfitProbe(v); why != "" {
			leaveOut(v, why)
			continue
		}
		p := cells.KeyOf(v.Plan.Cell, v.Plan.Arm)
		probes[p] = append(probes[p], v)
	}
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			for _, end := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
				t := newSampled()
				for _, v := range probes[cells.KeyOf(cell, arm)] {
					if err := t.addTrial(v.Record, end); err != nil {
						leaveOut(v, err.Error())
					}
				}
				if t.whole > 0 {
					all = append(all, t.profile(cells.KeyOf(cell, arm), end))
				}
			}
		}
	}
	return all, warnings
}

// sampled is the CPU time of one end, summed over profiles, in ns.
type sampled struct {
	classifier
	probes           int
	whole            float64
	activity         []float64 // as activities
	flat, cumulative map[string]float64

	samples int
	last    map[string]int // by function, the number of the last sample it was on
}

func newSampled() *sampled {
	return &sampled{
		classifier: classifier{map[string]standing{}}, activity: make([]float64, len(classes)),
		flat: map[string]float64{}, cumulative: map[string]float64{}, last: map[string]int{},
	}
}

// addTrial adds the profiles of a trial's workers of one end.
func (t *sampled) addTrial(r *record.Record, end contract.Role) error {
	found := false
	var errs []error
	for _, w := range r.Workers {
		if w.Role != end || w.Result == nil || len(w.Result.Profile) == 0 {
			continue
		}
		p, err := pprof.Parse(w.Result.Profile)
		if err == nil {
			err = t.add(p)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Name, err))
			continue
		}
		found = true
	}
	if found {
		t.probes++
	}
	return errors.Join(errs...)
}

// add files every sample of a profile under its activity and its functions.
func (t *sampled) add(p *profile.Profile) error {
	value := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == "cpu" && v.Unit == "nanoseconds" })
	if value < 0 {
		return errors.New("find CPU time: no sample type is cpu in nanoseconds")
	}
	for _, sample := range p.Sample {
		ns := float64(sample.Value[value])
		if ns <= 0 {
			continue
		}
		stack := functions(sample)
		t.samples++
		t.whole += ns
		t.activity[t.rank(stack)] += ns
		for i, name := range stack {
			if i == 0 {
				t.flat[name] += ns
			}
			if t.last[name] != t.samples { // recursion counts once
				t.last[name] = t.samples
				t.cumulative[name] += ns
			}
		}
	}
	return nil
}

// functions returns the names on a sample's stack, the executing one first,
// inlined ones in their place; code without symbols by its mapping.
func functions(sample *profile.Sample) []string {
	var stack []string
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil && line.Function.Name != "" {
				stack = append(stack, line.Function.Name)
			}
		}
		if len(location.Line) == 0 && location.Mapping != nil && location.Mapping.File != "" {
			stack = append(stack, location.Mapping.File)
		}
	}
	return stack
}

func (t *sampled) profile(at cells.Key, end contract.Role) Profile {
	p := Profile{
		Cell: at.Cell, Arm: at.Arm, End: string(end), Probes: t.probes, Seconds: t.whole / 1e9,
		Flat: t.top(t.flat), Cumulative: t.top(t.cumulative),
	}
	for i, ns := range t.activity {
		p.Shares = append(p.Shares, Share{classes[i].Name, ns / t.whole})
	}
	return p
}

// top returns the functions that took most by one account.
func (t *sampled) top(by map[string]float64) []Function {
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var top []Function
	for _, name := range names[:min(len(names), topFunctions)] {
		top = append(top, Function{name, t.flat[name] / t.whole, t.cumulative[name] / t.whole})
	}
	return top
}

// What a study asks for beyond its comparisons: where the CPU time went,
// charts, fitted models, searches.

// Profile says where the CPU time of one end of an arm went, by the samples of
// its probes, all of them together.
type Profile struct {
	Cell       string     `json:"cell"`
	Arm        string     `json:"arm"`
	End        string     `json:"end"`        // "server", "client" or "pair"
	Probes     int        `json:"probes"`     // trials that left a profile of this end
	Seconds    float64    `json:"seconds"`    // CPU time sampled, over all of them
	Shares     []Share    `json:"shares"`     // every activity of Activities, in its order; they sum to 1
	Flat       []Function `json:"flat"`       // the first 20 by time in themselves
	Cumulative []Function `json:"cumulative"` // the first 20 by time in themselves and what they called
}

// Share is the part of the sampled CPU time that went into one activity.
type Share struct {
	Activity string  `json:"activity"` // a name of Activities
	Share    float64 `json:"share"`    // 0 to 1
}

// Function is one function of a profile.
type Function struct {
	Name       string  `json:"name"`       // with its import path
	Flat       float64 `json:"flat"`       // share of the sampled time in the function itself
	Cumulative float64 `json:"cumulative"` // and in what it called
}
