package best

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// UndecidedSoFar is what SoFar says where no interval tells any arm from the first.
const UndecidedSoFar = "undecided so far"

// longSoFar is the length in characters from which on no further metric is told, so that the
// line of a run that goes on is read at a glance.
const longSoFar = 90

// mostLeaders is how many leaders are named where they differ between cells.
const mostLeaders = 3

// SoFar says of a run that goes on which arm leads on each metric, as far as intervals
// hold it: "so far: asio with 32 % less server CPU than go-net". It is no verdict: a run that
// is read after every block is read more often than its levels are made for. "" where
// nothing may be said of a best arm.
func (j *Judged) SoFar() string {
	if j == nil {
		return ""
	}
	var said []string
	named := "" // the arm that leads alone on an earlier metric
	decided := false
	metrics := j.metrics()
	for i, name := range metrics {
		if length := len([]rune(strings.Join(said, "; "))); decided && length > longSoFar {
			said = append(said, "and "+quantity.Plural(len(metrics)-i, "more metric"))
			break
		}
		who, words := j.leading(slices.DeleteFunc(slices.Clone(j.Sets), func(s Set) bool { return s.Metric != name }))
		switch {
		case words == "":
			words = metric.Shown(name).Label + " undecided"
		case who != "" && who != named:
			named, words, decided = who, who+" with "+words, true
		default:
			decided = true
		}
		said = append(said, words)
	}
	if !decided {
		return UndecidedSoFar
	}
	return "so far: " + strings.Join(said, "; ")
}

// lead is who may lead in a cell, and who is behind.
type lead struct {
	arms   []string // their labels, the highest mean first
	behind *Arm     // the nearest one; nil where nobody is told to be
}

func (j *Judged) lead(s Set) lead {
	var l lead
	better := metric.Shown(s.Metric).Better
	for i, a := range s.Arms {
		switch {
		case a.Standing == Unknown:
		case i > 0 && (better == metric.Lower && a.Low > 1 || better == metric.Higher && a.High < 1 && a.High > 0):
			if l.behind == nil {
				l.behind = &s.Arms[i]
			}
		default:
			l.arms = append(l.arms, j.names.Within(a.Name))
		}
	}
	return l
}

// leading says who leads in the cells of one metric: the only arm that does, and by how
// much, or several without a name; no words where nobody is told to lead in any.
func (j *Judged) leading(sets []Set) (who, words string) {
	m := metric.Shown(sets[0].Metric)
	where := map[string][]string{} // who leads → cells
	var leaders []string
	var leads []lead
	told, several := false, false
	for _, s := range sets {
		leader, l := "undecided", j.lead(s)
		if leads = append(leads, l); l.behind != nil {
			leader, told, several = quantity.Or(l.arms), true, several || len(l.arms) > 1
		}
		if where[leader] == nil {
			leaders = append(leaders, leader)
		}
		where[leader] = append(where[leader], j.names.Cell(s.Cell))
	}
	switch {
	case !told:
		return "", ""
	case len(leaders) == 1 && !several:
		return leaders[0], j.by(m, leads)
	case len(leaders) == 1:
		return "", fmt.Sprintf("%s by %s", leaders[0], m.Label)
	}
	if len(leaders) > mostLeaders {
		return "", m.Label + " by another arm from cell to cell"
	}
	parts := make([]string, len(leaders))
	for i, leader := range leaders {
		parts[i] = leader + inCell(quantity.Names(where[leader]))
	}
	return "", m.Label + " " + strings.Join(parts, ", ")
}

// by says by how much the only leader is ahead of the next: of several cells from the
// least to the most.
func (j *Judged) by(m metric.Metric, leads []lead) string {
	least, most := math.Inf(1), 0.0
	var next, interval string
	for _, l := range leads {
		a := l.behind
		share := ahead(a.Ratio)
		least, most, next = min(least, share), max(most, share), j.names.Within(a.Name)
		low, high := ahead(a.Low), ahead(a.High)
		interval = fmt.Sprintf(" (%s–%s %%)", rough(min(low, high)), rough(max(low, high)))
		if math.IsInf(max(low, high), 1) {
			interval = fmt.Sprintf(" (%s %% or more)", rough(min(low, high)))
		}
	}
	comparative := "more"
	if m.Better == metric.Lower {
		comparative = "less"
	}
	if len(leads) > 1 {
		return fmt.Sprintf("%s to %s %% %s %s than the next", rough(least), rough(most), comparative, m.Label)
	}
	return fmt.Sprintf("%s %% %s %s than %s%s", rough(least), comparative, m.Label, next, interval)
}

// rough prints a share in percent as a figure that will change: two digits are enough.
func rough(share float64) string {
	if share >= 0.1 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	return fmt.Sprintf("%.2g", 100*share)
}

// ahead is by what share the first arm is better than one whose ratio to it is given.
func ahead(ratio float64) float64 {
	if ratio <= 0 {
		return math.Inf(1) // of an interval without an end
	}
	return math.Abs(1/ratio - 1)
}
