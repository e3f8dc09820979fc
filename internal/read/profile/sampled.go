package profile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
)

// sampled is the CPU time of one end, summed over profiles, in ns. Each is by the
// activity that the sample belongs to and by function.
type sampled struct {
	classifier
	folded     bool // the kernel's frames of a stack are taken as one
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

func newSampled(folded bool) *sampled {
	return &sampled{
		classifier: classifier{map[symbol]standing{}}, folded: folded, activity: make([]float64, len(classes)),
		flat: map[place]float64{}, cumulative: map[string]float64{}, last: map[string]int{},
	}
}

// addProbe adds the profiles of a probe's workers.
func (t *sampled) addProbe(p probe) {
	for _, one := range p.of {
		t.addProfile(one.Profile)
	}
	t.probes++
}

// addProfile files every sample of a profile under its activity and its functions.
func (t *sampled) addProfile(p *profile.Profile) {
	value, err := cpuTime(p)
	if err != nil {
		return // as read says
	}
	for _, sample := range p.Sample {
		ns := float64(sample.Value[value])
		if ns <= 0 {
			continue
		}
		at := traceOf(sample)
		if t.folded {
			at = at.folded()
		}
		rank, names := t.rank(at), at.functions
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

// longestName bounds a function's name, in characters: whoever wrote the profile chose it.
const longestName = 240

// traceOf returns a sample's stack, inlined functions in their place; code without
// symbols by its mapping.
func traceOf(sample *profile.Sample) trace {
	var t trace
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil && line.Function.Name != "" {
				t.functions = append(t.functions, quantity.Clip(line.Function.Name, longestName))
			}
		}
		if len(location.Line) == 0 && location.Mapping != nil && location.Mapping.File != "" {
			t.functions = append(t.functions, "["+quantity.Clip(path.Base(location.Mapping.File), longestName)+"]")
		}
		if inKernel(location) {
			t.kernel = len(t.functions)
		}
	}
	return t
}

func inKernel(l *profile.Location) bool {
	return l.Mapping != nil && l.Mapping.File == contract.KernelMapping
}

// SharesByProbe returns which share of an end's sampled CPU time an activity has, or a
// function with what it calls, in each probe of an arm in a cell, by the probe's block.
// Without any, or where the kernel's time is not among the samples, it says why.
func SharesByProbe(s *cells.Dataset, at cells.Key, end, of string) (byBlock map[int]float64, why string) {
	probes, _ := fit(s) // what cannot be read is named where profiles are summed up
	side := sideOf(probes[at], contract.Role(end))
	switch {
	case len(side.probes) == 0:
		return nil, fmt.Sprintf("%s has no profile of its %s%s; probes=3 takes them", at.Arm, end, s.Names.At(at.Cell))
	case side.source == NoKernel:
		return nil, fmt.Sprintf("the profiles of the %s of %s do not see the kernel, so shares of them are not of its CPU time", end, at.Arm)
	}
	activity := slices.IndexFunc(classes, func(a Activity) bool { return a.Name == of })
	byBlock = map[int]float64{}
	for _, p := range side.probes {
		t := newSampled(side.source == Mixed)
		t.addProbe(p)
		switch {
		case t.whole <= 0:
		case activity >= 0:
			byBlock[p.Plan.Block] = t.activity[activity] / t.whole
		default:
			byBlock[p.Plan.Block] = t.cumulative[of] / t.whole
		}
	}
	return byBlock, ""
}
