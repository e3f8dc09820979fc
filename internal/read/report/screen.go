package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

// Screen is what a run leaves on a terminal: the answer, one table, warnings of
// a line each, and how to see the rest. It fits 24 lines with a prompt and the two
// lines that its caller prints below it.
type Screen struct {
	title        string
	answer       []string // its sentences
	settling     string   // what was reached in the time that the run had; "" where it needed no more
	sent         string   // how many requests, in all; "" where nobody knows
	totals       string   // what was asked and answered in all, of servers that are the user's own
	lengths      []string // how long the replies were, where they varied
	requirements []Requirement
	tally        string
	answers      []string       // to further questions, in place of tables
	forms        [][]part.Table // the tables, in every form that they can take, the fullest first
	warnings     []notice
	full         string // the command that prints everything
}

// notice is every warning about one word: how many there are, and the first.
type notice struct {
	word, text string
	count      int
}

// NewScreen lays findings out for a terminal.
func NewScreen(f finding.Findings) Screen {
	l := newLayout(f)
	title := l.title()
	if title == f.Header.Study.Name && f.Header.Study.Question != "" {
		title += ": " + f.Header.Study.Question
	}
	s := Screen{
		title: title, answer: l.answer(), requirements: l.requirements(), tally: l.shortTally(),
		warnings: l.notices(), full: "netdyno report --full " + shellWord(cmp.Or(f.Header.Directory, "DIR")),
	}
	for _, h := range l.Headlines() {
		if s.forms == nil {
			s.forms = h.Forms
		}
		s.answers = append(s.answers, h.Answers...)
	}
	if s.forms == nil && s.answers == nil {
		s.forms = l.matrixForms()
	}
	if s.forms == nil && s.answers == nil {
		s.forms = l.figureForms()
	}
	if st := f.Look; st != nil && (st.TimeUp || f.Header.Study.Settle > 0 && !st.Settled && st.Next == 0) {
		s.settling = part.Capital(f.Look.Sentence)
	}
	if own := summary.Of(f); own != nil && l.Capacity == nil {
		s.title, s.totals, s.forms = "", own.Totals.Words(), l.loadForms(own, s.forms)
		s.lengths = own.LengthLines()
	}
	if f.Sent != nil {
		s.sent = f.Sent.Words()
	}
	s.forms = l.withFailed(s.forms)
	return s
}

// shortTally says what became of the trials in one line.
func (l *layout) shortTally() string {
	tally, _, _ := strings.Cut(l.tally(), " · ")
	return tally + " · " + quantity.Plural(l.blocks(), "block")
}

// notices gathers warnings by their words. What weakens the answers comes first.
func (l *layout) notices() []notice {
	var all []notice
	add := func(word, text string) {
		if i := slices.IndexFunc(all, func(n notice) bool { return n.word == word }); i >= 0 {
			all[i].count++
			return
		}
		all = append(all, notice{word, text, 1})
	}
	lost := l.lost()
	for _, r := range lost {
		add("trials", fmt.Sprintf("%d of %s %s: %s", r.Trials, r.Arm, r.Status, r.Reason))
	}
	if len(lost) == 0 {
		for _, caveat := range l.lostCaveat() {
			add("trials", caveat)
		}
	}
	for _, caveat := range l.unplannedCaveat() {
		add("records", caveat)
	}
	for _, caveat := range l.verdictCaveats() {
		add(string(compare.Invalid), caveat)
	}
	for _, w := range l.warnings() {
		word, _, _ := strings.Cut(w.About, ":")
		add(cmp.Or(word, "warning"), w.Text)
	}
	return all
}
