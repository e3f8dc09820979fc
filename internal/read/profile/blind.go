package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// The shares of an end's samples from which on it is said that they could not be named,
// or were lost.
const (
	mostUnnamed = 0.1
	mostHidden  = 0.05
	mostLost    = 0.05
)

// hiddenKernel begins the name that the meter gives the kernel's functions where it may
// not read theirs.
const hiddenKernel = "[kernel, names hidden"

// blindSpots warns of what the profiles do not show, and says how to change it. Ends with
// the same trouble share a warning.
func blindSpots(s *cells.Dataset, profiles []Profile) []record.Warning {
	w := warner{of: map[record.Warning][]string{}}
	for _, p := range profiles {
		at := p.Arm + " (" + p.End + ")"
		for _, share := range p.Shares {
			if share.Activity == unnamed && share.Share >= mostUnnamed {
				w.addWarning(at, "at least a tenth of the samples are of code whose functions have no names",
					"use programs with their symbols: do not strip them, or strip --strip-debug, and build C and C++ with -fno-omit-frame-pointer")
			}
		}
		hidden := 0.0
		for _, f := range p.Flat {
			if strings.HasPrefix(f.Name, hiddenKernel) {
				hidden += f.Flat
			}
		}
		if hidden >= mostHidden {
			w.addWarning(at, "the names of the kernel's functions are hidden, so its part is not divided", "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1")
		}
		if p.Source == NoKernel {
			w.addWarning(at, "perf was not permitted to see the kernel, so shares are of the program's own code alone", "sudo sysctl kernel.perf_event_paranoid=1")
		}
	}
	for _, v := range s.Probes {
		if v.Record == nil {
			continue
		}
		for i := range v.Record.Workers {
			if worker := &v.Record.Workers[i]; worker.AtResult != nil && worker.AtResult.Sampled != nil {
				w.sampled(v.Plan.Arm+" ("+string(worker.Role)+")", worker.AtResult.Sampled)
			}
		}
	}
	return w.warnings()
}

// warner collects where each trouble is.
type warner struct{ of map[record.Warning][]string }

func (w warner) addWarning(at, text, advice string) {
	key := record.Warning{About: "profile", Text: text, Advice: advice}
	if !slices.Contains(w.of[key], at) {
		w.of[key] = append(w.of[key], at)
	}
}

// sampled warns of a worker of which perf took no samples, or lost many.
func (w warner) sampled(at string, s *contract.Sampled) {
	const advice = "netdyno doctor says what perf may do on a host; without it Go programs profile themselves, and others have no profile"
	switch {
	case len(s.Pprof) == 0 && s.Why != "":
		w.addWarning(at, "perf took no samples: "+quantity.Clip(s.Why, longestWhy), advice)
	case s.Lost > 0 && float64(s.Lost) >= mostLost*float64(s.Samples+s.Lost):
		w.addWarning(at, fmt.Sprintf("perf lost at least %.0f %% of the samples", mostLost*100), "give the worker another CPU, or let it do less")
	}
}

const (
	longestWhy  = 300 // bytes of a reason
	mostReasons = 8   // warnings
	mostNamed   = 4   // ends in one
)

// warnings are in the order of their texts, each with where it applies.
func (w warner) warnings() []record.Warning {
	keys := slices.SortedFunc(maps.Keys(w.of), func(a, b record.Warning) int { return strings.Compare(a.Text, b.Text) })
	var all []record.Warning
	for _, key := range keys[:min(len(keys), mostReasons)] {
		ends := w.of[key]
		named := strings.Join(ends[:min(len(ends), mostNamed)], ", ")
		if more := len(ends) - mostNamed; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		key.Text = named + ": " + key.Text
		all = append(all, key)
	}
	return all
}
