// Package condition reads and writes what a study expects of its figures, a line each:
// "goodput_bytes_per_s of grpc <= 0.5 × http at request=4MiB" (specification §6.13). It
// knows the metrics and no study: whoever reads a condition checks its arms and levels.
package condition

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Form is what a condition is about.
type Form int

// The forms.
const (
	Figure  Form = iota // a metric of arms: "p99 of a <= 5ms", "goodput of a > b"
	Profile             // a share of an end's CPU profile: "client.profile(garbage collection) of a > b"
	Spread              // how far ratios to a base vary from cell to cell: "spread(goodput over a) of b < c"
	Growth              // by how much a metric grows: "server.rss_bytes per connections = 2 × opt.write_buffer"
	Least               // the least levels that come near the best: "least connections with goodput >= 95 % of best"
)

// Relation stands between the two sides of a condition.
type Relation string

// The relations.
const (
	Less    Relation = "<" // by more than the margin
	AtMost  Relation = "<="
	Equal   Relation = "=" // within the margin
	AtLeast Relation = ">="
	More    Relation = ">" // by more than the margin
)

// DefaultMargin is the difference that counts as none where a condition has no margin.
const DefaultMargin = 0.02

const (
	// TheLink is the base of a condition on the link itself: its declared rate.
	TheLink = "link"
	// BothEnds begins a metric that is the sum of the server's and the client's.
	BothEnds = "both."
)

// Condition is one line, taken apart. Two conditions that say the same are equal.
type Condition struct {
	Form     Form
	Metric   string // in the registry, or BothEnds and what both ends have; "" of a Profile
	End      string // of a Profile: "server" or "client"
	Activity string // of a Profile: an activity, or a function with what it calls

	Per     string   // of a Growth: the factor that multiplies all terms
	Terms   []Term   // of a Growth, at least one
	Factors []string // of a Least, at least one

	Of      Side // none for every arm
	Is      Relation
	Size    float64 // of Base; without Base in the metric's unit, of a Least a share of the best
	Bound   string  // Size without Base as it was written: "5ms"
	Base    Side    // none of a figure that stands against a bound; one arm unless Best, or a Spread
	Margin  float64
	At      map[string]string // levels of the cells that it is about; none for all
	Against map[string]string // the ratio there is divided by the ratio at these levels
}

// Side is one side of a condition.
type Side struct {
	Arms []string
	Best bool              // the best of Arms, in any of the cells
	At   map[string]string // levels of its own; the left side's are Condition.At
}

// Term is one coefficient of a Growth.
type Term struct {
	Size   float64
	Factor string
}

// Arms returns every arm that the condition names, the link aside.
func (c Condition) Arms() []string {
	return slices.DeleteFunc(slices.Concat(c.Of.Arms, c.Base.Arms), func(arm string) bool { return arm == TheLink })
}

// IsBound tells whether the condition is a plain bound on one arm, as a gate asks: a
// figure at most or at least a number, or a multiple of another arm in the same cell.
func (c Condition) IsBound() bool {
	plain := c.Form == Figure && !strings.HasPrefix(c.Metric, BothEnds) && len(c.Of.Arms) == 1 && !c.Of.Best && len(c.Against) == 0
	alone := len(c.Base.Arms) == 0 || len(c.Base.Arms) == 1 && !c.Base.Best && len(c.Base.At) == 0 && c.Base.Arms[0] != TheLink
	return plain && alone && (c.Is == AtMost || c.Is == AtLeast)
}

// String writes the condition so that Parse reads the same back.
func (c Condition) String() string {
	text := c.what()
	left, right := "", levelsText(" at ", c.At)
	if len(c.Base.At) > 0 {
		left, right = right, levelsText(" at ", c.Base.At)
	}
	text += left + " " + string(c.Is) + " " + c.size()
	if c.Margin != DefaultMargin {
		text += " ± " + number(100*c.Margin) + " %"
	}
	return text + right + levelsText(" against ", c.Against)
}

func (c Condition) what() string {
	text := c.Metric
	switch c.Form {
	case Least:
		return "least " + strings.Join(c.Factors, ", ") + " with " + c.Metric
	case Growth:
		return c.Metric + " per " + c.Per
	case Spread:
		text = "spread(" + c.Metric + " over " + c.Base.Arms[0] + ")"
	case Profile:
		text = c.End + ".profile(" + c.Activity + ")"
	}
	if len(c.Of.Arms) > 0 {
		text += " of " + c.Of.text()
	}
	return text
}

func (c Condition) size() string {
	switch {
	case c.Form == Least:
		return c.Bound + " of best"
	case c.Form == Growth:
		var terms []string
		for _, t := range c.Terms {
			terms = append(terms, number(t.Size)+" × "+t.Factor)
		}
		return strings.Join(terms, " + ")
	case c.Form == Spread:
		return strings.Join(c.Base.Arms[1:], ", ")
	case len(c.Base.Arms) == 0:
		return c.Bound
	case c.Size == 1:
		return c.Base.text()
	}
	return number(c.Size) + " × " + c.Base.text()
}

func (s Side) text() string {
	if s.Best {
		return "best(" + strings.Join(s.Arms, ", ") + ")"
	}
	return strings.Join(s.Arms, ", ")
}

func levelsText(before string, levels map[string]string) string {
	var all []string
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, factor+"="+levels[factor])
	}
	if len(all) == 0 {
		return ""
	}
	return before + strings.Join(all, " and ")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }
