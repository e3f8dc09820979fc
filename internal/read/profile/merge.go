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
	{cpuKind, func(w *record.Worker) (*profile.Profile, error) {
		one, _, err := cpuOf(w)
		return one.Profile, err
	}},
	{"allocations", named("allocations")},
	{"mutex", named("mutex")},
	{"block", named("block")},
}

const cpuKind = "cpu"

func named(kind string) func(*record.Worker) (*profile.Profile, error) {
	return func(w *record.Worker) (*profile.Profile, error) {
		data, before := w.Result.Profiles[kind], w.Result.ProfilesBefore[kind]
		if len(data) == 0 {
			return nil, nil
		}
		p, err := Parse(data)
		if err != nil || len(before) == 0 {
			return p, err
		}
		return growth(before, p)
	}
}

// growth is by how much a profile of a program exceeds an earlier one, which is given as
// it was encoded.
func growth(before []byte, after *profile.Profile) (*profile.Profile, error) {
	from, err := Parse(before)
	if err != nil {
		return nil, fmt.Errorf("as the window opened: %w", err)
	}
	from.Scale(-1)
	grown, err := profile.Merge([]*profile.Profile{after, from})
	if err != nil {
		return nil, fmt.Errorf("subtract what was there as the window opened: %w", err)
	}
	return grown, nil
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

// merger adds up the profiles of one kind that an end's workers left.
type merger struct {
	end    contract.Role
	of     func(*record.Worker) (*profile.Profile, error)
	probes int              // that left one
	sum    *profile.Profile // nil while there is none
}

func (m *merger) addTrial(v *trial.Judged) []Unread {
	var unread []Unread
	found := false
	for i := range v.Record.Workers {
		w := &v.Record.Workers[i]
		if w.Role != m.end || w.Result == nil {
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
		m.probes++
	}
	return unread
}

func (m *merger) join(p *profile.Profile) error {
	p.Comments = nil // of which there would be one for each probe
	together := []*profile.Profile{p}
	if m.sum != nil {
		together = slices.Insert(together, 0, m.sum)
	}
	sum, err := profile.Merge(together)
	if err != nil {
		return fmt.Errorf("add to the others: %w", err)
	}
	m.sum = sum
	return nil
}
