package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Profile says where the CPU time of one end of an arm went, by the samples of
// its probes, all of them together.
type Profile struct {
	Cell       string     `json:"cell"`
	Arm        string     `json:"arm"`
	End        string     `json:"end"`            // "server", "client" or "pair"
	Source     Source     `json:"source"`         // how it was taken
	Probes     int        `json:"probes"`         // trials that left a profile of this end
	File       string     `json:"file,omitempty"` // in directory profiles/ beside findings.json, in pprof's format
	Seconds    float64    `json:"seconds"`        // CPU time sampled, over all of them
	Shares     []Share    `json:"shares"`         // every activity of Activities, in its order; they sum to 1
	Flat       []Function `json:"flat"`           // the first 20 by time in themselves
	Cumulative []Function `json:"cumulative"`     // the first 20 by time in themselves and what they called
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

const topFunctions = 20

// ends are those that leave profiles, in the order in which they are shown.
var ends = []contract.Role{contract.Server, contract.Client, contract.Pair}

// Profiles reads the probes' CPU profiles by cell, arm and end. What cannot be
// read is left out and warned of, and so is what they do not show.
func Profiles(s *cells.Dataset) ([]Profile, []record.Warning) {
	var all []Profile
	probes, unread := fit(s)
	for at := range s.Places() {
		for _, end := range ends {
			of, source, bad := readProfiles(probes[at], end)
			unread = append(unread, bad...)
			t := newSampled(source == Mixed)
			for _, p := range of {
				t.addProbe(p)
			}
			if t.whole > 0 {
				all = append(all, t.profile(at, end, source))
			}
		}
	}
	var warnings []record.Warning
	for _, u := range unread {
		warnings = append(warnings, record.Warning{
			About: "profile", Text: fmt.Sprintf("the profile of probe %q is left out: %s", u.Probe, u.Why),
			Advice: "the other figures do not depend on probes",
		})
	}
	return all, append(warnings, blindSpots(s, all)...)
}

func (t *sampled) profile(at cells.Key, end contract.Role, source Source) Profile {
	flat := map[string]float64{}
	for at, ns := range t.flat {
		flat[at.function] += ns
	}
	p := Profile{
		Cell: at.Cell, Arm: at.Arm, End: string(end), Source: source, Probes: t.probes, Seconds: t.whole / 1e9,
		Flat: t.top(flat, flat), Cumulative: t.top(t.cumulative, flat),
	}
	for i, ns := range t.activity {
		p.Shares = append(p.Shares, Share{classes[i].Name, ns / t.whole})
	}
	return p
}

// top returns the functions that took most by one account.
func (t *sampled) top(by, flat map[string]float64) []Function {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var top []Function
	for _, name := range names[:min(len(names), topFunctions)] {
		top = append(top, Function{name, flat[name] / t.whole, t.cumulative[name] / t.whole})
	}
	return top
}
