// Package answer is what a run says to its study's question: one table with every arm that
// ran, one sentence of a fixed list, under what that holds, and what weakens it. The page,
// the terminal, Markdown and --json print this value and make no words of their own of it.
// It says no more than package best has judged. It is pure.
package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Kind is the form of an answer's sentence.
type Kind string

// The forms.
const (
	Use      Kind = "use"        // one arm, or each of a few that are equal; what the nearest other one costs
	Equal    Kind = "equal"      // all arms
	Open     Kind = "open"       // too close to call between some arms
	Trade    Kind = "trade"      // one arm is best on one metric, another on another
	ByCell   Kind = "by cell"    // one arm in some cells, another in others
	Early    Kind = "early"      // too few blocks ran to tell arms apart
	Alone    Kind = "alone"      // one arm, which is compared with nothing
	None     Kind = "none"       // nothing may be said, and why
	Analysis Kind = "by another" // a mesh, a search or models of costs say it
)

// Answer is what a run says to its study's question.
type Answer struct {
	Kind      Kind         `json:"kind"`
	Sentence  string       `json:"sentence"`            // never empty
	GoOn      string       `json:"go_on,omitempty"`     // how to decide what is open, a line
	Command   string       `json:"command,omitempty"`   // that GoOn ends in, to be typed; "" of a line without one
	Tables    []part.Table `json:"tables,omitempty"`    // of all arms; one for each of up to tablesOfCells cells, else one with a column or row a cell
	Condition string       `json:"condition,omitempty"` // under which it holds: load, machine, what was the limit
	Course    []string     `json:"course,omitempty"`    // what the load's course says of the figures, the worst first, at most two
	Weakens   []string     `json:"weakens,omitempty"`   // what weakens it, the worst first, a line each
	Judged    []string     `json:"judged,omitempty"`    // how that was judged, and what else was found
}

// Text is the sentence with how to go on, the load's course and the condition behind it, a
// paragraph each.
func (a Answer) Text() []string {
	all := slices.Concat([]string{a.Sentence, a.GoOn}, a.Course, []string{a.Condition})
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// SoFar is what may be said of a run that goes on; "" for nothing. It is no verdict: a run
// that is read after every block is read more often than its levels are made for.
func (a Answer) SoFar() string {
	switch a.Kind {
	case Early, None, Analysis:
		return ""
	}
	said := strings.TrimSuffix(a.Sentence, ".")
	if rest, is := strings.CutPrefix(said, "Use "); is {
		said = "use " + rest
	}
	return "so far: " + said
}

// Part has how it was judged.
func (a Answer) Part() part.Part {
	p := part.Part{ID: "judged", Title: "How this was judged"}
	if len(a.Judged) > 0 {
		p.Sections = []part.Section{{ID: "judged-how", Title: "What the answer rests on", Sentences: a.Judged}}
	}
	return p
}

// Found is what an answer is made of.
type Found struct {
	compare.Run
	Best      *best.Judged // nil where nothing may be said of a best arm
	Look      *cells.Look  // nil for a study with one look
	Headlines []part.Headline
	Floor     string // what of short times is the machine's own; "" for nothing
}

// Of answers a run's question.
func Of(f Found) Answer {
	a := Answer{Weakens: f.weakens(), Condition: condition(f.Run), Judged: f.how()}
	s := f.sentence()
	a.Kind, a.Sentence = s.kind, s.text
	a.GoOn, a.Command = f.goOn(s)
	if at := f.Header.Facts.Standing; s.open && s.kind != Early && at != nil && at.Floats && !at.Pinned {
		a.GoOn = part.Joined(" ", "Pinning the servers may halve the intervals: --pin-server.", a.GoOn)
	}
	a.Tables = f.tables()
	for _, h := range f.Headlines {
		switch said := strings.Join(h.Sentences, " "); {
		case said == "":
		case h.Place == part.Before && (a.Kind == None || a.Kind == Alone):
			a.Kind, a.Sentence = Analysis, said
		case h.Place == part.Before:
			a.Sentence = said + " " + a.Sentence
		default:
			a.Judged = append(a.Judged, said)
		}
		if h.Place == part.Before && len(h.Tables) > 0 {
			a.Tables = nil
		}
		a.Tables = append(a.Tables, h.Tables...)
	}
	return a
}

// By is an answer that an analysis gives alone: of a mesh, or of a search.
func By(run compare.Run, h part.Headline) Answer {
	return Answer{Kind: Analysis, Sentence: strings.Join(h.Sentences, " "), Tables: h.Tables, Condition: condition(run)}
}

// how says how it was judged: at which look, in which order of metrics, and every advice
// where there are several.
func (f Found) how() []string {
	var all []string
	if f.Look != nil && f.Look.Sentence != "" {
		all = append(all, part.Sentence(f.Look.Sentence))
	}
	if f.Best != nil {
		all = append(all, fmt.Sprintf("Every arm was compared with every other, block by block: the truly best one is among those that are not told apart from it in 95 of 100 runs, in %s at once; a difference below %s counts as none. A relation in brackets is that of a metric that was not judged, told apart by its own 95 %% interval.",
			quantity.Plural(len(f.Best.Sets), "question"), quantity.FormatShare(f.Best.Margin)))
		if order := f.Plan().Recommend; len(order) > 0 {
			var labels []string
			for _, name := range order {
				labels = append(labels, part.Label(name))
			}
			all = append(all, "The study puts its metrics in an order of its own: "+quantity.And(labels)+".")
		}
	}
	if f.Floor != "" {
		all = append(all, f.Floor)
	}
	return all
}

// label is what an arm is called within a sentence: "gRPC (unary)" of "gRPC, unary".
func (f Found) label(arm string) string { return f.Plan().Names.Within(arm) }

// armsSaid bounds the arms that are named together.
const armsSaid = 3

// listed names arms joined as a sentence does; of many the first, and how many others.
func (f Found) listed(arms []string, join func([]string) string) string {
	var labels []string
	for _, arm := range arms {
		labels = append(labels, f.label(arm))
	}
	if more := len(labels) - armsSaid; more > 0 {
		labels = append(labels[:armsSaid-1:armsSaid-1], quantity.Plural(more+1, "other arm"))
	}
	return join(labels)
}

// metrics are those that were judged, in the order in which the study weighs them, without
// those on which nothing can be compared.
func (f Found) metrics() []metric.Metric {
	names := f.Plan().Recommend
	if len(names) == 0 {
		names = f.Plan().Compare.Primary
	}
	var all []metric.Metric
	for _, name := range names {
		judged := slices.ContainsFunc(f.Best.Sets, func(s best.Set) bool { return s.Metric == name })
		mute := slices.ContainsFunc(f.Best.Advice, func(a best.Advice) bool {
			return slices.ContainsFunc(a.Mute, func(m best.Mute) bool { return m.Metric == name })
		})
		if judged && !mute {
			all = append(all, metric.Shown(name))
		}
	}
	return all
}

// set are the arms of a cell beside the best of them on a metric.
func (f Found) set(cell, metric string) (best.Set, bool) {
	if f.Best == nil {
		return best.Set{}, false
	}
	i := slices.IndexFunc(f.Best.Sets, func(s best.Set) bool { return s.Cell == cell && s.Metric == metric })
	if i < 0 {
		return best.Set{}, false
	}
	return f.Best.Sets[i], true
}
