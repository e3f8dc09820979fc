// Package part holds the forms in which an analysis gives what it found: parts of a
// report made of sentences, tables and drawings, and what it says to the study's
// question. Values are typed and texts are ready to print; the page, the terminal and
// Markdown each lay any part out by the same loop. It computes nothing.
package part

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Analysis is a question that a run was asked besides its comparisons, with the answer.
// An analysis without an answer has a part without sections.
type Analysis interface {
	Part() Part
}

// Answering is an Analysis that answers the study's question, or adds to the answer.
type Answering interface {
	Analysis
	Headline() Headline
}

// Part is what a report has of one analysis: nothing without Sections.
type Part struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Short    string    `json:"short,omitempty"` // the title in a list of contents; Title where it is empty
	Sections []Section `json:"sections"`
	Beside   bool      `json:"beside,omitempty"` // its sections may stand beside each other
	Lines    int       `json:"lines,omitempty"`  // that a terminal shows of it at most, 0 for all; each section is whole
	Outcomes []Outcome `json:"-"`                // for an index of several reports
}

// Named is the part's title in a list of contents.
func (p Part) Named() string {
	if p.Short != "" {
		return p.Short
	}
	return p.Title
}

// Section is a titled section of a report: sentences, a drawing, and tables.
type Section struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Sentences []string `json:"sentences,omitempty"`
	Figure    *Figure  `json:"figure,omitempty"`
	Notes     []string `json:"notes,omitempty"` // what weakens it, and what is left out
	Tables    []Table  `json:"tables,omitempty"`
	OnScreen  bool     `json:"on_screen,omitempty"` // paper has no room for it
}

// Outcome is what became of a statement: "yes", "no", "undecided", "not here".
type Outcome struct{ Title, Here, Ground string }

// Place is where the sentences of a headline stand in a run's answer.
type Place int

// The places.
const (
	After  Place = iota // the comparisons
	Before              // the comparisons, as it says more than one of its cells
	Whole               // alone: it is the answer
	Folded              // not in it: with how it was judged
)

// Headline is what an analysis says to the study's question.
type Headline struct {
	Place     Place
	Sentences []string // none for nothing to say
	Tables    []Table  // what a first screen shows of it: below the arms, or in their place where it stands before them
	Warnings  []record.Warning
}

// maxRows bounds a table; findings.json beside the report has every row.
const maxRows = 500

// Bounded cuts a table at maxRows and says so in its caption.
func Bounded(t Table) Table {
	if more := len(t.Rows) - maxRows; more > 0 {
		t.Rows = t.Rows[:maxRows]
		t.Caption += fmt.Sprintf(" %d more rows are in findings.json.", more)
	}
	return t
}

// ScaleFor is the unit to show values of a metric in, of which the largest is given.
func ScaleFor(name string, largest float64) metric.Scale { return metric.Shown(name).Scale(largest) }
