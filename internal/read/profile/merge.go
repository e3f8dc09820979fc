package profile

import (
	"fmt"
	"slices"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Merged is what the probes of an arm in a cell left of one end, in one profile: all
// probes and all workers of the end added up.
type Merged struct {
	Cell, Arm string
	End       contract.Role
	Kind      string // of Kinds: "cpu"
	Probes    int    // that left one
	*profile.Profile
}

// Unread is a profile that is left out.
type Unread struct {
	Probe string // its trial
	Why   string
}

// kinds are the profiles that a worker leaves; of returns nil for one that it did not.
var kinds = []struct {
	name string
	of   func(*record.Worker) (*profile.Profile, error)
}{
	{"cpu", func(w *record.Worker) (*profile.Profile, error) {
		one, _, err := cpuOf(w)
		return one.Profile, err
	}},
	{"allocations", named("allocations")},
	{"mutex", named("mutex")},
	{"block", named("block")},
}

func named(kind string) func(*record.Worker) (*profile.Profile, error) {
	return func(w *record.Worker) (*profile.Profile, error) {
		if data := w.Result.Profiles[kind]; len(data) > 0 {
			return Parse(data)
		}
		return nil, nil
	}
}

// Merge returns the profiles by cell, arm, end and kind, in the study's order. What
// cannot be read, or does not go with the first of its place, is left out and named.
func Merge(s *cells.Dataset) ([]Merged, []Unread) {
	probes, unread := fit(s)
	var all []Merged
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			for _, end := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
				for _, kind := range kinds {
					m := merger{of: kind.of, Merged: Merged{Cell: cell, Arm: arm, End: end, Kind: kind.name}}
					for _, v := range probes[cells.KeyOf(cell, arm)] {
						unread = append(unread, m.add(v)...)
					}
					if m.Profile != nil {
						all = append(all, m.Merged)
					}
				}
			}
		}
	}
	return all, unread
}

// fit returns the probes that did their arm's work, by place.
func fit(s *cells.Dataset) (probes map[cells.Key][]*trial.Judged, unread []Unread) {
	probes = map[cells.Key][]*trial.Judged{}
	for _, v := range s.Probes {
		if v.Record == nil {
			continue
		}
		if why := trial.UnfitProbe(v); why != "" {
			unread = append(unread, Unread{v.Plan.ID, why})
			continue
		}
		at := cells.KeyOf(v.Plan.Cell, v.Plan.Arm)
		probes[at] = append(probes[at], v)
	}
	return probes, unread
}

// merger adds profiles up.
type merger struct {
	of func(*record.Worker) (*profile.Profile, error)
	Merged
}

func (m *merger) add(v *trial.Judged) []Unread {
	var unread []Unread
	found := false
	for i := range v.Record.Workers {
		w := &v.Record.Workers[i]
		if w.Role != m.End || w.Result == nil {
			continue
		}
		p, err := m.of(w)
		if err == nil && p != nil {
			err = m.join(p)
			found = found || err == nil
		}
		if err != nil {
			unread = append(unread, Unread{v.Plan.ID, fmt.Sprintf("%s: %s", w.Name, err)})
		}
	}
	if found {
		m.Probes++
	}
	return unread
}

func (m *merger) join(p *profile.Profile) error {
	p.Comments = nil // of which there would be one for each probe
	together := []*profile.Profile{p}
	if m.Profile != nil {
		together = slices.Insert(together, 0, m.Profile)
	}
	sum, err := profile.Merge(together)
	if err != nil {
		return fmt.Errorf("add to the others: %w", err)
	}
	m.Profile = sum
	return nil
}
