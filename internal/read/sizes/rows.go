package sizes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Rows are an arm's exchanges in one cell, told apart by class, by path or by step: what the
// first screen of a run has a line each of.
type Rows struct {
	Of   string // "class", "path", "server" or "step"
	Kind string // of the times
	All  []Sort
	Sorts
}

// mostArms bounds the arms whose rows a screen has.
const mostArms = 2

// Rows returns those of each arm in the cell where it answers most; none where nothing tells
// exchanges apart, and of a run of many arms.
func (z *Sizes) Rows() []Rows {
	if z == nil {
		return nil
	}
	var all []Rows
	arms := map[string]bool{}
	for _, one := range z.Sorts {
		for of, sorts := range map[string][]Sort{"class": one.Classes, pathOr(one.Paths): one.Paths, "step": one.Steps} {
			if len(sorts) < 2 {
				continue
			}
			arms[one.Arm] = true
			r := Rows{of, kindOf([]Sorts{one}), sorts, one}
			at := slices.IndexFunc(all, func(o Rows) bool { return o.Arm == r.Arm && o.Of == of })
			switch {
			case at < 0:
				all = append(all, r)
			case r.rate() > all[at].rate():
				all[at] = r
			}
		}
	}
	if len(arms) > mostArms {
		return nil
	}
	slices.SortStableFunc(all, func(a, b Rows) int { return cmp.Compare(a.Of, b.Of) })
	return all
}

// pathOr is what the paths of a client are, which may be addresses of the server.
func pathOr(paths []Sort) string {
	if len(paths) > 0 && !strings.HasPrefix(paths[0].Class, "/") {
		return "server"
	}
	return "path"
}

// Of returns an arm's exchanges in a cell by class, by path and by step.
func (z *Sizes) Of(cell, arm string) (classes, paths, steps []Sort) {
	if z == nil {
		return nil, nil, nil
	}
	for _, one := range z.Sorts {
		if one.Cell == cell && one.Arm == arm {
			return one.Classes, one.Paths, one.Steps
		}
	}
	return nil, nil, nil
}

func (r Rows) rate() (sum float64) {
	for _, s := range r.All {
		sum += s.Rate.Value
	}
	return sum
}

// Table has a line each of the rows with the most time, at most so many, in their order; how many
// others there are stands in its notes.
func (z *Sizes) Table(r Rows, most int) part.Table {
	shown := r.All
	if len(shown) > most {
		busy := slices.Clone(shown)
		slices.SortStableFunc(busy, func(a, b Sort) int { return cmp.Compare(b.TimeS, a.TimeS) })
		least := busy[most-1].TimeS
		shown = slices.DeleteFunc(slices.Clone(shown), func(s Sort) bool { return s.TimeS < least })[:most]
	}
	title := r.Of
	if other := func(o Sorts) bool { return o.Arm != r.Arm }; slices.ContainsFunc(z.Sorts, other) {
		title += " (" + r.Arm + ")"
	} else if len(z.Sorts) > 1 {
		title += " (" + z.names.Cell(r.Cell) + ")"
	}
	t := part.Table{Columns: part.Titles(title)}
	if more := len(r.All) - len(shown); more > 0 {
		t.Notes = []string{quantity.Plural(more, "more "+r.Of)}
	}
	for _, s := range shown {
		t.Rows = append(t.Rows, part.Row(s.Name()))
	}
	add := func(c part.Column, value func(Sort) part.Datum) {
		t.Columns = append(t.Columns, c)
		for i, s := range shown {
			t.Rows[i] = append(t.Rows[i], value(s))
		}
	}
	figure := func(title, name string, of func(Sort) cells.Figure) {
		largest := 0.0
		for _, s := range shown {
			largest = max(largest, of(s).Value)
		}
		if largest == 0 {
			return
		}
		scale := part.ScaleFor(name, largest)
		add(part.Column{Title: title, Kind: part.Numbers, Unit: scale.Unit, Metric: name}, func(s Sort) part.Datum {
			if of(s).N == 0 {
				return part.Word("?")
			}
			return part.Value(scale.Format(of(s).Value), "")
		})
	}
	if r.Of == "step" {
		figure("offered", metric.ExchangesPerS, func(s Sort) cells.Figure { return cells.Figure{N: 1, Value: s.Offered} })
	}
	add(part.Figures("requests")[0], func(s Sort) part.Datum { return part.Value(quantity.FormatCount(float64(s.Requests)), "") })
	figure("answered", metric.ExchangesPerS, func(s Sort) cells.Figure { return s.Rate })
	figure("p50", metric.PercentileName(r.Kind, "p50"), func(s Sort) cells.Figure { return s.P50 })
	figure("p95", metric.PercentileName(r.Kind, "p95"), func(s Sort) cells.Figure { return s.P95 })
	figure("p99", metric.PercentileName(r.Kind, "p99"), func(s Sort) cells.Figure { return s.P99 })
	add(part.Figures("errors")[0], func(s Sort) part.Datum { return part.Value(fmt.Sprint(s.Errors), "") })
	return t
}
