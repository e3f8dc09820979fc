package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// gateWords are what a gate says, in words and in a table.
var gateWords = map[compare.GateResult]struct{ words, mark string }{
	compare.NoWorse:  {"no worse", "✓ no worse"},
	compare.IsWorse:  {"worse", "✗ worse"},
	compare.Unproven: {"cannot tell", "? cannot tell"},
}

// Gate is what a gate found, for a pull request.
type Gate struct {
	Result       compare.GateResult
	title, words string
	comparisons  part.Table
	requirements part.Table
	caveats      []string
	judged       string
}

// NewGate lays a gate's findings out.
func NewGate(f finding.Findings, result compare.GateResult, all []compare.Gated) Gate {
	l := newLayout(f)
	g := Gate{
		Result: result, words: gateWords[result].words, judged: strings.Join(l.judged(), " "), caveats: compare.Caveats(f.Run),
		comparisons: gatedTable(all, l.level()), requirements: requiredTable(f.Requirements, l.level()),
	}
	if result == compare.IsWorse && !slices.ContainsFunc(all, func(c compare.Gated) bool { return c.Result == compare.IsWorse }) {
		g.words = "a requirement is broken"
	}
	g.title = "netdyno gate, " + cmp.Or(cells.Title(f.Header.Study), "a study") + ": " + g.words
	return g
}

func gatedTable(all []compare.Gated, level float64) part.Table {
	t := part.Table{Caption: "Figures are means over the blocks that both arms have. The interval decides."}
	t.Columns = slices.Concat(part.Titles("arm", "against", "cell", "metric"), part.Figures("arm's figure", "the other's", "ratio"), part.Titles("gate", "because"))
	for _, c := range all {
		value, base := quotientOf(c.Comparison)
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(c.Arm), part.Word(c.Base), part.Word(cmp.Or(cells.Spoken(c.Cell), "all")), part.Word(part.Label(c.Metric)), value, base, part.Quotient(c.Comparison),
			part.Word(gateWords[c.Result].mark), part.Word(gateReason(c)),
		})
	}
	return t
}

// gateReason is why a comparison passes or not; of an undecided one also what
// decides it.
func gateReason(c compare.Gated) string {
	if c.Result == compare.Unproven {
		return because(c.Reason, c.Decides)
	}
	return c.Reason
}

func requiredTable(all []compare.Requirement, level float64) part.Table {
	t := part.Table{Columns: slices.Concat(part.Titles("requirement", "cell"), part.Figures("found", "interval"), part.Titles("gate", "because"))}
	for _, r := range all {
		value, interval := measured(r)
		t.Rows = append(t.Rows, part.Row(r.Text, cmp.Or(cells.Spoken(r.Cell), "all"), cmp.Or(value, part.None), cmp.Or(interval, part.None), stateMarks[r.State]+" "+string(r.State), because(r.Reason, r.Decides)))
	}
	return t
}

// Markdown writes the gate as a heading, its tables and how it was judged.
func (g Gate) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, g.title)
	m.table(g.comparisons)
	m.table(g.requirements)
	if len(g.caveats) > 0 {
		m.paragraph("Undecided because: " + strings.Join(g.caveats, "; ") + ".")
	}
	m.paragraph(g.judged)
	_, err := io.WriteString(w, printable.Lines(strings.TrimSpace(m.out.String()))+"\n")
	return err
}

// String is the verdict in a line, with what leaves it open besides comparisons.
func (g Gate) String() string {
	if g.Result == compare.Unproven && len(g.caveats) > 0 {
		return "gate: " + g.words + ": " + strings.Join(g.caveats, "; ")
	}
	return "gate: " + g.words
}

// Requirement is one sentence on a declared bound, with the state that it
// states.
type Requirement struct {
	State compare.State `json:"state"`
	Text  string        `json:"text"`
}

// requirements puts those first that are not met: somebody must act on them.
func (l *layout) requirements() []Requirement {
	var all []Requirement
	for _, state := range []compare.State{compare.Broken, compare.Undecided, compare.Met} {
		for _, r := range l.Requirements {
			if r.State == state {
				all = append(all, Requirement{state, requirementText(r)})
			}
		}
	}
	return all
}

// requirementText is one requirement in a sentence.
func requirementText(r compare.Requirement) string {
	said := fmt.Sprintf("%s%s: %s", r.Text, cells.InCell(r.Cell), r.State)
	value, interval := measured(r)
	switch {
	case value == "":
	case interval == "":
		said += fmt.Sprintf(", %s (%s)", value, quantity.Plural(r.Blocks, "block"))
	default:
		said += fmt.Sprintf(", %s (%s interval %s, %s)", value, compare.Confidence(r.Interval), interval, quantity.Plural(r.Blocks, "block"))
	}
	for _, why := range []string{r.Reason, r.Decides} {
		if why != "" {
			said += "; " + why
		}
	}
	return said + "."
}

// measured prints a requirement's figure and interval: a ratio, or the metric
// in a unit that suits it. Each is empty where there is none: one block gives
// no ratio and no interval.
func measured(r compare.Requirement) (value, interval string) {
	switch {
	case r.Blocks == 0, r.Base != "" && r.Blocks == 1:
		return "", ""
	case r.Base != "" && !cells.Known(r.Blocks, r.Value, r.Low, r.High):
		return unknownText(r), ""
	case r.Base != "":
		return part.Times(r.Value), part.Span(r.Low, r.High)
	}
	s := part.ScaleFor(r.Metric, r.Value)
	if f := (cells.Figure{N: r.Blocks, Of: r.Of, Value: r.Value, Low: r.Low, High: r.High}); r.Low > 0 && !f.Known() {
		return unknownText(r), ""
	}
	value = s.Format(r.Value) + part.NoBreak + s.Unit
	if r.Blocks < 3 {
		return value, ""
	}
	return value, s.Interval(r.Low, r.High)
}

func unknownText(r compare.Requirement) string {
	return cells.Unknown + " (" + cells.WhyUnknown(r.Blocks, r.Of) + ")"
}
