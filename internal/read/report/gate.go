package report

import (
	"io"
	"strings"

	"netdyno/internal/read/finding"
)

// passages are what a gate says, in words and as a mark for a table.
var passages = map[finding.Passage]struct{ words, mark string }{
	finding.NoWorse:  {"no worse", "✓ no worse"},
	finding.IsWorse:  {"worse", "✗ worse"},
	finding.Unproven: {"cannot tell", "? cannot tell"},
}

// Gate is what a gate found, for a pull request.
type Gate struct {
	Passage finding.Passage
	table   Table
	title   string
}

// NewGate lays a gate's findings out.
func NewGate(f finding.Findings, passage finding.Passage, all []finding.Gated) Gate {
	g := Gate{Passage: passage, title: "netdyno gate, " + or(f.Header.Study.Name, "a study") + ": " + passages[passage].words}
	g.table = Table{Columns: head("arm", "against", "cell", "metric", "#ratio", "95 % interval", "gate", "because")}
	for _, c := range all {
		g.table.Rows = append(g.table.Rows, words(c.Arm, c.Base, or(c.Cell, "all"), labelOf(c.Metric), ratio(c.Ratio),
			ratioInterval(c.Low, c.High), passages[c.Passage].mark, c.Reason))
	}
	return g
}

// Markdown writes the gate as a heading and a table.
func (g Gate) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, g.title)
	m.table(g.table)
	_, err := io.WriteString(w, strings.TrimSpace(m.out.String())+"\n")
	return err
}

// String is the verdict in a line.
func (g Gate) String() string { return "gate: " + passages[g.Passage].words }
