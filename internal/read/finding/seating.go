package finding

import (
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// Seated is one seat and who sat there.
type Seated struct {
	Seat    string   `json:"seat"`
	Workers []string `json:"workers"` // "server", "client-1", …, in order
	CPUs    []string `json:"cpus"`    // sets that they were pinned to over the run, as lists; empty for any
}

// seating reads from the records who sat where, by seat in the order of first
// use: the server's seat comes first.
func seating(s *cells.Dataset) []Seated {
	var all []Seated
	for _, v := range s.Trials {
		if v.Record == nil {
			continue
		}
		for _, w := range v.Record.Workers {
			at := slices.IndexFunc(all, func(known Seated) bool { return known.Seat == w.Seat })
			if at < 0 {
				at = len(all)
				all = append(all, Seated{Seat: w.Seat})
			}
			all[at].Workers = withOnce(all[at].Workers, w.Name)
			if standing := w.Ready != nil && w.Ready.Elsewhere; len(w.CPUSet) > 0 && !standing {
				all[at].CPUs = withOnce(all[at].CPUs, trial.CPUList(w.CPUSet))
			}
		}
	}
	for i := range all {
		slices.SortFunc(all[i].Workers, byRole)
	}
	return all
}

// byRole puts servers before clients.
func byRole(a, b string) int {
	if one, other := strings.HasPrefix(a, "server"), strings.HasPrefix(b, "server"); one != other {
		return map[bool]int{true: -1, false: 1}[one]
	}
	return strings.Compare(a, b)
}

func withOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
