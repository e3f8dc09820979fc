// Package metric is the registry of metrics: the only place where counts become
// figures. Each metric says how it is named, computed, shown and explained, so
// that a new one is an entry in one file here and its test.
package metric

import (
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Metric is one figure that readers derive from a record.
type Metric struct {
	Name    string // as users type it, with its unit last
	Unit    string // of its values: "µs", "B", "share"; scale.go says how each is shown
	Label   string // as tables and charts name it: "server CPU"
	Heading string // Label in a table whose title and rows say the rest: "round trip"
	Suffix  string // what follows the unit of a shown value: "/exchange"; of a count, what is counted
	Better  string // Higher, Lower, or "" when neither is
	Doc     string // a noun phrase that fits "0.61× the … of"
	Formula string // what it is, for the specification's table: at most 40 words
	Least   int64  // exchanges without which there is no figure; 0 when any number will do

	Kind  string  // of the times of which it is a percentile; "" for any other
	Share float64 // of them that lie at or below it

	in func(*record.Window) (float64, bool)
}

// Directions of Metric.Better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// In returns the figure from a window, whose histograms are decoded once for
// all metrics; false, never 0, when an input is absent or the figure is not a
// finite number.
func (m *Metric) In(w *record.Window) (float64, bool) {
	v, ok := m.in(w)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// Value returns the figure from a record by itself; false as In.
func (m *Metric) Value(r *record.Record) (float64, bool) { return m.In(record.NewWindow(r)) }

// bothEnds makes the server's and the client's metric of one kind. A pair is
// both ends in one process, so it has neither.
func bothEnds(m Metric, of func(*record.Window, []record.Span) (float64, bool)) []Metric {
	var both []Metric
	for _, end := range []contract.Role{contract.Server, contract.Client} {
		one := m
		one.Name = string(end) + "." + m.Name
		one.Label = string(end) + " " + m.Label
		one.Doc = string(end) + " " + m.Doc
		if one.Heading == "" {
			one.Heading = m.Label
		}
		one.in = ofRole(end, of)
		both = append(both, one)
	}
	return both
}

// ofRole measures the workers of a role; nothing where one of them left no span.
func ofRole(role contract.Role, of func(*record.Window, []record.Span) (float64, bool)) func(*record.Window) (float64, bool) {
	return func(w *record.Window) (float64, bool) {
		spans, ok := w.Spans(role)
		if !ok {
			return 0, false
		}
		return of(w, spans)
	}
}
