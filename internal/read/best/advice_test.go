package best

import (
	"slices"
	"testing"
)

// arms makes a set of a metric in a cell: the arms in their order, each with its standing.
func arms(cell, metric string, of ...Standing) Set {
	s := Set{Cell: cell, Metric: metric}
	for i, standing := range of {
		s.Arms = append(s.Arms, Arm{Name: string(rune('a' + i)), Standing: standing, Hidden: 0.01 * float64(i)})
	}
	return s
}

func TestTheRuleOfAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		sets []Set
		want []Advice
	}{
		"a winner": {
			[]Set{arms("", "cost", Best, Worse, Worse), arms("", "p99", Level, Level, Worse)},
			[]Advice{{Cells: []string{""}, Kind: Use, Arms: []string{"a"}}},
		},
		"two that are level on everything": {
			[]Set{arms("", "cost", Level, Level, Worse), arms("", "p99", Level, Level, Worse)},
			[]Advice{{Cells: []string{""}, Kind: Use, Arms: []string{"a", "b"}}},
		},
		"no difference": {
			[]Set{arms("", "cost", Level, Level), arms("", "p99", Level, Level)},
			[]Advice{{Cells: []string{""}, Kind: Either, Arms: []string{"a", "b"}, Less: 0.01}},
		},
		"a trade": {
			[]Set{arms("", "cost", Best, Worse), arms("", "p99", Worse, Best)},
			[]Advice{{Cells: []string{""}, Kind: Trade, Picks: []Pick{{"cost", []string{"a"}, true}, {"p99", []string{"b"}, true}}}},
		},
		"a trade of which one side is open": {
			[]Set{arms("", "cost", Best, Worse, Worse), arms("", "p99", Worse, Open, Open)},
			[]Advice{{Cells: []string{""}, Kind: Trade, Picks: []Pick{{"cost", []string{"a"}, true}, {"p99", []string{"b", "c"}, false}}}},
		},
		"still in the race": {
			[]Set{arms("", "cost", Open, Open, Worse), arms("", "p99", Best, Worse, Worse)},
			[]Advice{{Cells: []string{""}, Kind: Undecided, Arms: []string{"a"}}},
		},
		"cells that disagree": {
			[]Set{arms("small", "cost", Best, Worse), arms("large", "cost", Worse, Best), arms("huge", "cost", Worse, Best)},
			[]Advice{
				{Cells: []string{"small"}, Kind: Use, Arms: []string{"a"}},
				{Cells: []string{"large", "huge"}, Kind: Use, Arms: []string{"b"}},
			},
		},
		"an arm that cannot be compared is no reason against the best of the others": {
			[]Set{arms("", "cost", Open, Worse, Unknown)},
			[]Advice{{Cells: []string{""}, Kind: Undecided, Arms: []string{"a"}}},
		},
		"no two arms may be compared": {
			[]Set{arms("", "cost", Unknown, Unknown), arms("", "p99", Best, Worse)},
			[]Advice{{Cells: []string{""}, Kind: Use, Arms: []string{"a"}, Mute: []Mute{{"cost", ""}}}},
		},
		"no two arms may be compared on any metric": {
			[]Set{arms("", "cost", Unknown, Unknown)},
			[]Advice{{Cells: []string{""}, Kind: Nothing, Mute: []Mute{{"cost", ""}}}},
		},
		"none": {nil, nil},
	} {
		got := Advise(c.sets)
		if !slices.EqualFunc(got, c.want, func(a, b Advice) bool {
			return a.same(b) && slices.Equal(a.Cells, b.Cells) && a.Less == b.Less
		}) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// An arm that nobody can compare is named, unless it is shown to be worse on another metric.
func TestRefusedArmsAreNamed(t *testing.T) {
	sets := []Set{
		arms("x", "cost", Best, Worse, Unknown, Unknown), arms("x", "p99", Level, Worse, Level, Worse),
		arms("y", "cost", Unknown, Unknown, Unknown, Unknown), arms("y", "p99", Best, Worse, Worse, Unknown),
	}
	sets[0].Arms[2].Reason = "too few blocks"
	want := []Out{{"x", "c", Refused, "cost", "too few blocks"}, {"y", "d", Refused, "p99", ""}}
	if got := refused(sets); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
