package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// sampled is the CPU time of one end, summed over profiles, in ns. Each is by the
// activity that the sample belongs to and by function.
type sampled struct {
	classifier
	probes     int
	whole      float64
	activity   []float64          // as classes
	flat       map[place]float64  // of the executing function
	cumulative map[string]float64 // and of those that called it

	stacks  map[string]*stack // by their functions; nil unless they are wanted
	samples int
	last    map[string]int // by function, the number of the last sample it was on
}

// place is a function in one activity: runtime.memmove is called by many.
type place struct {
	activity int // of classes
	function string
}

// stack is what was sampled of one stack.
type stack struct {
	functions []string // the executing one first
	activity  int      // of classes
	ns        float64
}

func newSampled() *sampled {
	return &sampled{
		classifier: classifier{map[string]standing{}}, activity: make([]float64, len(classes)),
		flat: map[place]float64{}, cumulative: map[string]float64{}, last: map[string]int{},
	}
}

// addTrial adds the profiles of a trial's workers of one end.
func (t *sampled) addTrial(r *record.Record, end contract.Role) error {
	found := false
	var errs []error
	for _, w := range r.Workers {
		if w.Role != end || w.Result == nil || len(cpu(&w)) == 0 {
			continue
		}
		p, err := Parse(cpu(&w))
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
		names := functions(sample)
		rank := t.rank(names)
		t.samples++
		t.whole += ns
		t.activity[rank] += ns
		if t.stacks != nil {
			t.addStack(names, rank, ns)
		}
		for i, name := range names {
			if i == 0 {
				t.flat[place{rank, name}] += ns
			}
			if t.last[name] != t.samples { // recursion counts once
				t.last[name] = t.samples
				t.cumulative[name] += ns
			}
		}
	}
	return nil
}

func (t *sampled) addStack(names []string, rank int, ns float64) {
	key := strings.Join(names, "\n")
	st := t.stacks[key]
	if st == nil {
		st = &stack{functions: names, activity: rank}
		t.stacks[key] = st
	}
	st.ns += ns
}

// functions returns the names on a sample's stack, the executing one first,
// inlined ones in their place; code without symbols by its mapping.
func functions(sample *profile.Sample) []string {
	var names []string
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil && line.Function.Name != "" {
				names = append(names, line.Function.Name)
			}
		}
		if len(location.Line) == 0 && location.Mapping != nil && location.Mapping.File != "" {
			names = append(names, location.Mapping.File)
		}
	}
	return names
}
