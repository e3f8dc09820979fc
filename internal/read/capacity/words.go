package capacity

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// sentences answer how much each arm carries, and what the arms carry against
// each other.
func (c *Capacity) sentences() []string {
	var all []string
	for _, a := range c.Arms {
		all = append(all, sentence(c.Spec, a))
	}
	for _, r := range c.Ratios {
		all = append(all, fmt.Sprintf("%s carries %s× as much as %s%s (%s–%s).", r.Arm, quantity.FormatFigure(r.Value), r.Base, cells.InCell(r.Cell),
			quantity.FormatFigure(r.Low), quantity.FormatFigure(r.High)))
	}
	if len(all) == 0 {
		return []string{"No arm has run, so nothing can be said of what they carry."}
	}
	return all
}

// objectiveWords join the conditions of an objective.
func objectiveWords(spec record.Capacity) string {
	var texts []string
	for _, b := range spec.Objective {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, " and ")
}

func sentence(spec record.Capacity, a Arm) string {
	who, objective := a.Arm+cells.InCell(a.Cell), objectiveWords(spec)
	switch {
	case a.None:
		return fmt.Sprintf("%s meets %s at no rate that was tried: %s%s.", who, objective, a.Why, behind(a.Cure))
	case a.Rate == nil:
		return fmt.Sprintf("How much %s carries at %s is undecided: %s%s.", who, objective, a.Why, behind(a.Cure))
	case a.AtLeast && a.LimitOf == contract.Client:
		return fmt.Sprintf("%s carries at least %s exchanges a second at %s: above that the load generator is at its own limit (%s)%s.",
			who, quantity.FormatFigure(a.Rate.Value), objective, a.Limit, cure(a.Limit))
	case a.AtLeast && slices.ContainsFunc(a.Tries, func(t Try) bool { return !t.Met }):
		return fmt.Sprintf("%s carries at least %s exchanges a second at %s: in most windows that missed it above that the load generator was at its own limit.",
			who, quantity.FormatFigure(a.Rate.Value), objective)
	case a.AtLeast:
		return fmt.Sprintf("%s carries at least %s exchanges a second at %s: no window that tells missed it%s.", who, quantity.FormatFigure(a.Rate.Value), objective, untoldWords(a))
	}
	text := fmt.Sprintf("%s carries %s exchanges a second (%s–%s, %s) at %s", who, quantity.FormatFigure(a.Rate.Value),
		quantity.FormatFigure(a.Rate.Low), quantity.FormatFigure(a.Rate.High), compare.Confidence(1-stat.Confidence), objective)
	text += limitWords(a)
	if a.Wide {
		text += fmt.Sprintf("; the interval is wider than %s, and a longer --time narrows it", compare.Percent(spec.Within))
	}
	return text + "."
}

// untoldWords say how many windows tell nothing, and why the last does not; "" for none.
func untoldWords(a Arm) string {
	n := len(a.Untold)
	if n == 0 {
		return ""
	}
	last := a.Untold[n-1]
	return fmt.Sprintf("; %s told nothing, the last, at %s/s, because %s", quantity.Plural(n, "window"), quantity.FormatFigure(last.Rate), last.Why)
}

// behind is what a sentence goes on with after a semicolon; "" for nothing.
func behind(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

// limitMeans is what a limit means where a capacity lies, and what raises it. There
// the load is an open loop, which does not wait for replies.
func limitMeans(l trial.Limit) trial.Meaning {
	if l != trial.Latency {
		return l.Means()
	}
	return trial.Meaning{
		Means: "flat out no CPU was full, and no window that missed the objective shows one: responses come late because they wait, in the server or for what stands behind it",
		Cure:  "look for what they wait for: a lock, a pool of workers or connections, a database, a timer",
	}
}

// limitWords says what limits an arm at its capacity. It carries "at least" a rate only
// where most windows that missed it prove the load generator to have been full; where
// they do not, the reason stands here.
func limitWords(a Arm) string {
	switch {
	case a.Limit == trial.Unknown:
		return fmt.Sprintf("; what limits it there is not known (%s), so it may be the load generator", a.Proof)
	case a.LimitOf == contract.Client:
		return fmt.Sprintf("; its limit there is %s (%s), but not in most of the windows that missed, so no more than this is known of the server", a.Limit, a.Proof)
	case a.Limit == trial.Latency:
		return "; no CPU is full there, so responses wait in the server or for what stands behind it"
	case a.Limit != "":
		return fmt.Sprintf("; its limit there is %s", a.Limit)
	}
	return ""
}

// cure is what raises a limit.
func cure(l trial.Limit) string {
	return behind(limitMeans(l).Cure)
}

// Charts draw the objective's metrics against the rate, every window a point, with the
// bound as a line of its own.
func (c *Capacity) Charts(s *cells.Dataset) view.Charts {
	if c == nil {
		return nil
	}
	var all view.Charts
	for _, cell := range s.Cells {
		for _, b := range c.Spec.Objective {
			spec := record.Chart{Title: b.Text + " by rate" + cells.InCell(cell), Kind: record.Lines, Metric: b.Metric, X: "rate", By: s.Header.Study.Compare.Factor, Where: varied(s, cell)}
			for _, chart := range view.ChartsOf(s, []record.Chart{spec}) {
				chart.Windows = true
				all = append(all, withBound(withoutIntervals(chart), b))
			}
		}
	}
	return all
}

// varied are the levels that make a cell.
func varied(s *cells.Dataset, cell string) map[string]string {
	levels := map[string]string{}
	for _, level := range strings.Fields(cell) {
		if factor, text, found := strings.Cut(level, "="); found {
			levels[factor] = text
		}
	}
	return levels
}

// withoutIntervals leaves the points alone: an interval of the two windows that may have
// had one rate says nothing, and would stretch the axis over all orders of magnitude.
func withoutIntervals(c view.Chart) view.Chart {
	for _, line := range c.Lines {
		for i := range line.Points {
			p := &line.Points[i]
			p.Low, p.High = p.Value, p.Value
		}
	}
	return c
}

// withBound adds the line of a bound from the least rate to the greatest.
func withBound(c view.Chart, b record.Bound) view.Chart {
	var first, last view.Point
	for _, line := range c.Lines {
		for _, p := range line.Points {
			if first.N == 0 || p.X.Value < first.X.Value {
				first = p
			}
			if last.N == 0 || p.X.Value > last.X.Value {
				last = p
			}
		}
	}
	if first.N == 0 || !(b.Value > 0) {
		return c
	}
	line := view.Line{Name: "objective"}
	for _, at := range []view.Coordinate{first.X, last.X} {
		line.Points = append(line.Points, view.Point{X: at, Figure: cells.Figure{Value: b.Value, Low: b.Value, High: b.Value, N: 1}})
	}
	c.Lines = append(c.Lines, line)
	return c
}
