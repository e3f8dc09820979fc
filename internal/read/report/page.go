// Package report turns findings into something to read: a page, and from it
// text for a terminal, Markdown, and one self-contained HTML file. It computes
// nothing. New decides every word and unit once and gives each value its type;
// the renderers only lay out, and none of them reads a text back.
package report

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// Page is a report before it has a form. Strings are ready to print, numbers
// inside figures are raw. Build one with New; renderers only read it.
type Page struct {
	Title     string         `json:"title"`
	Question  string         `json:"question,omitempty"`
	Made      string         `json:"made"`                // when, with what, on which rig
	Answer    []string       `json:"answer"`              // to the question, in a few sentences
	GoOn      string         `json:"go_on,omitempty"`     // one of them: how to decide what is open
	Command   string         `json:"command,omitempty"`   // that it ends in
	Condition string         `json:"condition,omitempty"` // the last of them where it says under what they hold
	Tables    []part.Table   `json:"tables,omitempty"`    // of the answer: every arm beside the best
	Picture   *Figure        `json:"picture,omitempty"`   // the answer in absolute figures
	Care      string         `json:"care,omitempty"`      // what Warnings are about, in one line
	Matrix    []part.Table   `json:"matrix,omitempty"`    // arms by cells, one table for each primary metric; of several cells
	Tally     string         `json:"tally"`
	Judged    []string       `json:"judged,omitempty"` // how: look and level, size of the families, method
	Warnings  []Warning      `json:"warnings,omitempty"`
	Arms      []Key          `json:"arms,omitempty"`
	Effects   []Figure       `json:"effects,omitempty"` // every arm against the baseline, one figure per primary metric
	Parts     []part.Part    `json:"parts,omitempty"`   // what was asked besides
	Lead      string         `json:"lead,omitempty"`    // ID of the first of them, where its drawings show the answer
	Cells     []Cell         `json:"cells,omitempty"`
	Evidence  []part.Section `json:"evidence,omitempty"`
	Rerun     Rerun          `json:"rerun"`
	Trials    Trials         `json:"trials"`
	Accounts  []Account      `json:"accounts,omitempty"` // of the trials, as far as a page holds them
}

// Rerun tells how to get this report again.
type Rerun struct {
	Command string `json:"command"`
	Seed    string `json:"seed"`
}

// New lays findings out as a page. Garbage in the findings gives an odd page,
// never a panic.
func New(f finding.Findings) Page {
	l := newLayout(f)
	p := Page{
		Title:     l.title(),
		Question:  f.Plan().Question,
		Made:      l.made(),
		Answer:    l.answer(),
		GoOn:      l.Findings.Answer.GoOn,
		Command:   l.Findings.Answer.Command,
		Condition: l.condition(),
		Tables:    l.answerTables(),
		Picture:   l.picture(),
		Care:      l.care(),
		Matrix:    l.matrix(),
		Tally:     l.tally(),
		Judged:    l.judged(),
		Warnings:  append(l.weakened(), l.warnings()...),
		Arms:      l.keys,
		Effects:   l.effects(),
		Parts:     l.parts(),
		Lead:      l.lead(),
		Cells:     l.cells(),
		Evidence:  l.evidence(),
		Rerun: Rerun{
			Command: shellLine(f.Header.Command),
			Seed:    fmt.Sprint(f.Plan().Seed),
		},
		Trials:   l.trials(),
		Accounts: l.accounts(),
	}
	p.Trials.Beyond = beyond(len(p.Trials.All), p.Accounts)
	return p
}

// title says what the study compares.
func (l *layout) title() string {
	return cmp.Or(l.plan.Title(), "netdyno report")
}

func (l *layout) made() string {
	parts := []string{"netdyno " + cmp.Or(l.Header.Netdyno, "of unknown version")}
	if !l.Header.CreatedAt.IsZero() {
		parts = append(parts, l.Header.CreatedAt.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	if rig := l.Header.Facts.Rig; rig != "" {
		parts = append(parts, strings.Join(append([]string{"rig " + rig}, l.link()...), ", "))
	}
	return strings.Join(parts, " · ")
}

// link is what the study holds of the link, "link.rate=1Gbit/s".
func (l *layout) link() []string {
	var held []string
	for _, factor := range sortedKeys(l.plan.Hold) {
		if strings.HasPrefix(factor, "link.") {
			held = append(held, factor+"="+l.plan.Hold[factor])
		}
	}
	return held
}

// figures lists what the browser draws.
func (p Page) figures() []Figure {
	figures := []Figure{}
	if p.Picture != nil {
		figures = append(figures, *p.Picture)
	}
	figures = append(figures, p.Effects...)
	for _, a := range p.Parts {
		for _, s := range a.Sections {
			if s.Figure != nil {
				figures = append(figures, Figure{Figure: *s.Figure})
			}
		}
	}
	for _, c := range p.Cells {
		figures = append(figures, c.Figures...)
	}
	return figures
}
