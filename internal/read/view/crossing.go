package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// noteCrossings says of a chart whose lines are arms where each crosses the
// baseline's: where one stops costing less and begins to cost more, or where the
// choice between them stops mattering (specification §6.14).
func noteCrossings(s *cells.Dataset, c *Chart, m metric.Metric) {
	base := s.Header.Study.Compare.Baseline
	if c.Spec.By != s.Header.Study.Compare.Factor || base == "" {
		return
	}
	var unlike []string // arms of which nothing is known at any level: one note is enough
	for _, line := range c.Lines {
		if line.Name == base || len(line.Points) < 2 {
			continue
		}
		text, known, at := crossing(s, c.Spec, m, line.Name, base)
		if at != nil {
			c.Crosses = append(c.Crosses, *at)
		}
		switch {
		case text == "":
		case known:
			c.note("%s", text)
		default:
			unlike = append(unlike, line.Name)
		}
	}
	if len(unlike) > 0 {
		c.note("at no %s do these differ clearly from %s, so it is undecided whether they cross it: %s", c.Spec.X, base, strings.Join(unlike, ", "))
	}
}

// between is the difference of an arm and the baseline at one level of a
// chart's axis.
type between struct {
	level Coordinate
	at    stat.At
}

func placesOf(along []between) []stat.At {
	places := make([]stat.At, len(along))
	for i, b := range along {
		places[i] = b.at
	}
	return places
}

// differencesAlong returns the logarithms of arm ÷ base within blocks along a chart's
// axis, rising. None when several cells share a level: then a point is a mean
// over cells, and so would be the crossing.
func differencesAlong(s *cells.Dataset, spec record.Chart, m metric.Metric, arm, base string) (along []between, refused []string) {
	for _, cell := range s.CellsWith(spec.Where, []string{arm, base}) {
		text, ok := s.LevelOf(s.Of(cell, arm)[0], spec.X)
		x, number := NumberOf(text)
		if !ok || !number {
			continue
		}
		if slices.ContainsFunc(along, func(b between) bool { return b.at.X == x }) {
			return nil, nil
		}
		b := compare.Prepare(s, cell, m, arm, base)
		if b.Refusal != "" || b.Blocks < compare.LeastBlocks(cells.Level) {
			refused = append(refused, text)
			continue
		}
		along = append(along, between{Coordinate{text, x}, stat.At{X: x, Blocks: b.Pairs.ByBlock()}})
	}
	slices.SortFunc(along, func(a, b between) int { return cmp.Compare(a.at.X, b.at.X) })
	return along, refused
}

// crossing puts into words where two lines cross; "" when too little was measured
// to ask. It is not known when neither a side nor a likeness shows at any level.
func crossing(s *cells.Dataset, spec record.Chart, m metric.Metric, arm, base string) (text string, known bool, at *Cross) {
	along, refused := differencesAlong(s, spec, m, arm, base)
	places := placesOf(along)
	signs, ok := stat.Signs(places, cells.Level)
	if !ok || len(places) < 2 {
		return "", false, nil
	}
	same := sameWords(s, along, signs)
	known = same != "" || slices.ContainsFunc(signs, func(e stat.Estimate) bool { return e.Sign() != 0 })
	words, at := crossingWords(spec.X, along, signs, arm)
	if at != nil {
		at.Arm, at.Base = arm, base
	}
	text = arm + " and " + base + " " + words + same
	if len(refused) > 0 {
		text += fmt.Sprintf("; nothing is said of %s=%s", spec.X, strings.Join(refused, ", "))
	}
	return text + ".", known, at
}

// Cross is where an arm's line crosses the baseline's, in levels of a factor.
type Cross struct {
	Arm    string `json:"arm"`
	Base   string `json:"base"`
	Factor string `json:"factor"`
	At     string `json:"at"`
	Low    string `json:"low"` // of its interval of 95 %
	High   string `json:"high"`
}

// crossingWords says whether two lines cross between the levels of an axis.
func crossingWords(factor string, along []between, signs []stat.Estimate, arm string) (string, *Cross) {
	first, last := along[0].level.Text, along[len(along)-1].level.Text
	var turns []int // of the levels whose sign is known, those before which it changes
	var known []int
	for i, e := range signs {
		if e.Sign() == 0 {
			continue
		}
		if len(known) > 0 && signs[known[len(known)-1]].Sign() != e.Sign() {
			turns = append(turns, len(known))
		}
		known = append(known, i)
	}
	switch {
	case len(turns) > 1:
		return fmt.Sprintf("cross more than once between %s=%s and %s", factor, first, last), nil
	case len(turns) == 1:
		from, to := known[turns[0]-1], known[turns[0]]
		order := side(signs[from]) + " before and " + side(signs[to]) + " after"
		c, ok := stat.Crossing(placesOf(along), from, to, cells.Level)
		if !ok {
			return fmt.Sprintf("cross between %s=%s and %s: %s is %s", factor, along[from].level.Text, along[to].level.Text, arm, order), nil
		}
		like := along[from].level.Text
		at := &Cross{Factor: factor, At: levelLike(like, c.Point), Low: levelLike(like, c.Low), High: levelLike(like, c.High)}
		return fmt.Sprintf("cross at about %s=%s (95 %% interval %s–%s): %s is %s", factor, at.At, at.Low, at.High, arm, order), at
	case len(known) == len(along):
		return fmt.Sprintf("do not cross between %s=%s and %s: %s is %s throughout", factor, first, last, arm, side(signs[0])), nil
	case len(known) == 0:
		return fmt.Sprintf("do not differ clearly at any %s from %s to %s, so it is undecided whether they cross", factor, first, last), nil
	}
	var where, open []string
	for i, b := range along {
		if slices.Contains(known, i) {
			where = append(where, b.level.Text)
		} else {
			open = append(open, b.level.Text)
		}
	}
	return fmt.Sprintf("do not differ clearly at %s=%s, so it is undecided whether they cross: %s is %s at %s", factor, strings.Join(open, ", "), arm, side(signs[known[0]]), strings.Join(where, ", ")), nil
}

func side(e stat.Estimate) string {
	if e.Sign() > 0 {
		return "higher"
	}
	return "lower"
}

// sameWords names the levels at which two lines differ by less than the margin:
// there the choice does not matter.
func sameWords(s *cells.Dataset, along []between, signs []stat.Estimate) string {
	edge := math.Log1p(compare.Margin(s.Header.Study.Compare))
	var same []string
	for i, e := range signs {
		if -edge <= e.Low && e.High <= edge {
			same = append(same, along[i].level.Text)
		}
	}
	if len(same) == 0 {
		return ""
	}
	return fmt.Sprintf("; at %s they differ by less than the margin of %s", strings.Join(same, ", "), compare.Percent(compare.Margin(s.Header.Study.Compare)))
}

// levelLike prints a place on an axis as its levels are written.
func levelLike(level string, x float64) string {
	if _, err := quantity.ParseCount(level); err == nil {
		return quantity.FormatCount(x)
	}
	if _, err := quantity.ParseBytes(level); err == nil {
		return quantity.FormatBytes(x)
	}
	if _, err := quantity.ParseDuration(level); err == nil {
		return quantity.FormatDuration(time.Duration(x * float64(time.Second)))
	}
	return quantity.FormatFigure(x)
}
