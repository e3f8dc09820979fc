package best

import "slices"

// Kind is what may be advised of the arms of a cell.
type Kind string

// The kinds of advice.
const (
	Use       Kind = "use"       // one arm, or each of a few, is the best or level with it on every metric
	Either    Kind = "either"    // every arm is level with the best on every metric
	Trade     Kind = "trade"     // no arm may be the best on every metric
	Nothing   Kind = "nothing"   // on some metric no two arms may be compared
	Undecided Kind = "undecided" // some arm may still be the best on every metric, and none is shown to be
)

// Advice is what to use in some cells, and why.
type Advice struct {
	Cells  []string `json:"cells"`
	Kind   Kind     `json:"kind"`
	Arms   []string `json:"arms,omitempty"`   // to use; of Undecided those that may be the best
	Picks  []Pick   `json:"picks,omitempty"`  // of Trade: what may be the best on each metric
	Reason string   `json:"reason,omitempty"` // of Nothing
	Less   float64  `json:"less,omitempty"`   // of Either: no arm is better than another by this share or more
}

// Pick are the arms that may be the best on one metric.
type Pick struct {
	Metric  string   `json:"metric"`
	Arms    []string `json:"arms"`
	Decided bool     `json:"decided"` // each of them is the best or level with it
}

// Advise says what to use by the sets of every cell and metric: one advice for all cells
// that agree, in the order of the cells.
func Advise(sets []Set) []Advice {
	var all []Advice
	for _, cell := range cellsOf(sets) {
		a := adviseIn(slices.DeleteFunc(slices.Clone(sets), func(s Set) bool { return s.Cell != cell }))
		if i := slices.IndexFunc(all, a.same); i >= 0 {
			all[i].Cells, all[i].Less = append(all[i].Cells, cell), max(all[i].Less, a.Less)
			continue
		}
		a.Cells = []string{cell}
		all = append(all, a)
	}
	return all
}

func cellsOf(sets []Set) []string {
	var cells []string
	for _, s := range sets {
		if !slices.Contains(cells, s.Cell) {
			cells = append(cells, s.Cell)
		}
	}
	return cells
}

// same tells whether two cells have the same advice.
func (a Advice) same(b Advice) bool {
	return a.Kind == b.Kind && slices.Equal(a.Arms, b.Arms) &&
		slices.EqualFunc(a.Picks, b.Picks, func(p, q Pick) bool {
			return p.Metric == q.Metric && p.Decided == q.Decided && slices.Equal(p.Arms, q.Arms)
		})
}

// adviseIn is the rule for one cell, whose sets are given.
func adviseIn(sets []Set) Advice {
	var fit, possible []string // on every metric so far
	every := true
	for i, s := range sets {
		if len(s.standing(Unknown)) == len(s.Arms) {
			return Advice{Kind: Nothing, Reason: s.Arms[0].Reason}
		}
		good, in := s.standing(Best, Level), s.standing(Best, Level, Open)
		if i == 0 {
			fit, possible = good, in
		} else {
			fit, possible = both(fit, good), both(possible, in)
		}
		every = every && len(good) == len(s.Arms)
	}
	switch {
	case every && len(fit) > 0:
		return Advice{Kind: Either, Arms: fit, Less: hiddenIn(sets)}
	case len(fit) > 0:
		return Advice{Kind: Use, Arms: fit}
	case len(possible) > 0:
		return Advice{Kind: Undecided, Arms: possible}
	}
	a := Advice{Kind: Trade}
	for _, s := range sets {
		p := Pick{Metric: s.Metric, Arms: s.standing(Best, Level), Decided: true}
		if open := s.standing(Open); len(open) > 0 {
			p.Arms, p.Decided = append(p.Arms, open...), false
		}
		a.Picks = append(a.Picks, p)
	}
	return a
}

// standing lists the arms that have one of the standings, the highest mean first.
func (s Set) standing(wanted ...Standing) []string {
	var arms []string
	for _, a := range s.Arms {
		if slices.Contains(wanted, a.Standing) {
			arms = append(arms, a.Name)
		}
	}
	return arms
}

// both lists what is in both, in the order of the first.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
}

// hiddenIn is the largest difference that the sets leave possible.
func hiddenIn(sets []Set) float64 {
	most := 0.0
	for _, s := range sets {
		for _, a := range s.Arms {
			most = max(most, a.Hidden)
		}
	}
	return most
}
