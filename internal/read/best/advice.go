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
	Cells []string `json:"cells"`
	Kind  Kind     `json:"kind"`
	Arms  []string `json:"arms,omitempty"`  // to use; of Undecided those that may be the best
	Picks []Pick   `json:"picks,omitempty"` // of Trade: what may be the best on each metric
	Mute  []Mute   `json:"mute,omitempty"`  // metrics on which no two arms may be compared: the rest decides
	Less  float64  `json:"less,omitempty"`  // of Either: no arm is better than another by this share or more
}

// Mute is a metric that says nothing, and why.
type Mute struct {
	Metric string `json:"metric"`
	Reason string `json:"reason"`
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
	return inEach(cellsOf(sets), func(cell string) Advice {
		return adviseIn(slices.DeleteFunc(slices.Clone(sets), func(s Set) bool { return s.Cell != cell }))
	})
}

// inOrder says what to use where the study puts its metrics in an order. Of the arms that
// are best or level on the first metric, it takes those that are best or level among them
// on the second, and so on. It ends at the first metric on which no arm of those left is
// shown to be the best.
func inOrder(all []*judging, metrics []string) []Advice {
	var names []string
	for _, j := range all {
		if !slices.Contains(names, j.cell) {
			names = append(names, j.cell)
		}
	}
	return inEach(names, func(cell string) Advice {
		var a Advice
		var left []string // nil for all
		for _, name := range metrics {
			i := slices.IndexFunc(all, func(j *judging) bool { return j.cell == cell && j.metric == name })
			if i < 0 || len(left) == 1 {
				continue
			}
			set := all[i].judge(left)
			good := set.standing(Best, Level)
			switch {
			case set.mute():
				a.Mute = append(a.Mute, Mute{name, set.Arms[0].Reason})
				continue
			case len(good) == 0:
				a.Kind, a.Arms = Undecided, set.standing(Open)
				return a
			}
			left, a.Less = good, max(a.Less, hiddenIn([]Set{set}))
			if a.Kind = Use; len(good) == len(all[i].arms) {
				a.Kind = Either
			}
		}
		if a.Arms = left; left == nil {
			a.Kind = Nothing
		}
		if a.Kind != Either {
			a.Less = 0
		}
		return a
	})
}

// inEach joins the cells that have the same advice.
func inEach(cells []string, advise func(cell string) Advice) []Advice {
	var all []Advice
	for _, cell := range cells {
		a := advise(cell)
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
	return a.Kind == b.Kind && slices.Equal(a.Arms, b.Arms) && slices.EqualFunc(a.Mute, b.Mute, func(m, n Mute) bool { return m.Metric == n.Metric }) &&
		slices.EqualFunc(a.Picks, b.Picks, func(p, q Pick) bool {
			return p.Metric == q.Metric && p.Decided == q.Decided && slices.Equal(p.Arms, q.Arms)
		})
}

// adviseIn is the rule for one cell, whose sets are given.
func adviseIn(sets []Set) Advice {
	var a Advice
	var fit, possible []string // on every metric so far
	var told []Set
	every := true
	for _, s := range sets {
		if s.mute() {
			a.Mute = append(a.Mute, Mute{s.Metric, s.Arms[0].Reason})
			continue
		}
		good, in := s.standing(Best, Level), s.standing(Best, Level, Open)
		if len(told) == 0 {
			fit, possible = good, in
		} else {
			fit, possible = both(fit, good), both(possible, in)
		}
		told, every = append(told, s), every && len(good) == len(s.Arms)
	}
	switch {
	case len(told) == 0:
		a.Kind = Nothing
		return a
	case every && len(fit) > 0:
		a.Kind, a.Arms, a.Less = Either, fit, hiddenIn(told)
		return a
	case len(fit) > 0:
		a.Kind, a.Arms = Use, fit
		return a
	case len(possible) > 0:
		a.Kind, a.Arms = Undecided, possible
		return a
	}
	a.Kind = Trade
	for _, s := range told {
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
