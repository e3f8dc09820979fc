package expect

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// Here is a state in the words of a table: yes, no, undecided, not here.
func (s State) Here() string {
	return map[State]string{Holds: "yes", DoesNotHold: "no", Undecided: "undecided", NotTestable: "not here"}[s]
}

// Headline counts what became of the statements. Where some are questions, their table
// stands on a terminal in place of the comparisons.
func (all Results) Headline() part.Headline {
	if len(all) == 0 {
		return part.Headline{}
	}
	h := part.Headline{Sentences: []string{all.sentence()}}
	questions := slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return !strings.HasSuffix(r.Spec.Title, "?") })
	if len(questions) > 0 {
		t := questions.table()
		for i, r := range questions {
			t.Rows[i][3] = part.Word(r.number())
		}
		t.Columns[3].Title = ""
		if !slices.ContainsFunc(questions, func(r Result) bool { return r.Spec.Source != "" }) {
			t = t.Between(2, 4)
		}
		h.Tables = []part.Table{t}
	}
	return h
}

// number is the one that decides, with its interval, of what the report names; "" of none.
func (r Result) number() string {
	for _, e := range r.Evidence {
		if e.State == r.State && e.Blocks > 0 {
			return e.Measured
		}
	}
	return ""
}

func (all Results) sentence() string {
	var said []string
	for _, state := range States() {
		if n := len(slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return r.State != state })); n > 0 {
			said = append(said, fmt.Sprintf("%s %d", state, n))
		}
	}
	return fmt.Sprintf("Of %s: %s.", quantity.Plural(len(all), "statement"), strings.Join(said, ", "))
}

// Part has one table of the statements, and the numbers that each rests on.
func (all Results) Part() part.Part {
	p := part.Part{ID: "expect", Title: "Expectations"}
	if len(all) == 0 {
		return p
	}
	shown := part.Bounded(all.table())
	shown.Terminal = &part.Table{Notes: append(all.tried(), all.untried()...)}
	for _, r := range all {
		p.Outcomes = append(p.Outcomes, part.Outcome{Title: r.Spec.Name(), Here: r.State.Here(), Ground: r.Ground})
	}
	p.Sections = []part.Section{{ID: "expect-statements", Title: "What was expected, and what holds here", Tables: []part.Table{shown}}}
	if evidence := all.evidence(); len(evidence.Rows) > 0 {
		p.Sections = append(p.Sections, part.Section{ID: "expect-evidence", Title: "What that rests on", Tables: []part.Table{part.Bounded(evidence)}, OnScreen: true})
	}
	return p
}

// table has a row for each statement. What a publication says was true there.
func (all Results) table() part.Table {
	t := part.Table{Columns: part.Titles("", "published", "here", "what decides")}
	for _, r := range all {
		published := ""
		if r.Spec.Source != "" {
			published = "yes"
		}
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(r.Spec.Name()), {Text: published, Detail: part.Joined("; ", r.Spec.Source, r.Spec.Note)}, part.Word(r.State.Here()), part.Word(r.decides()),
		})
	}
	return t
}

// decides is the number that decides, or why there is none.
func (r Result) decides() string {
	if r.State == NotTestable || r.Figure == "" {
		return strings.TrimSuffix(r.Ground, ".")
	}
	return r.Figure
}

// tried says of those that are testable here what holds, a line each.
func (all Results) tried() (lines []string) {
	for _, r := range all {
		if r.State != NotTestable {
			lines = append(lines, part.Capital(r.State.Here())+": "+r.Spec.Name()+": "+r.decides()+".")
		}
	}
	return lines
}

// untriedShown bounds how many statements of one reason a terminal lists.
const untriedShown = 3

// untried says of the others in a line for each reason why they are not.
func (all Results) untried() (lines []string) {
	var reasons []string
	by := map[string][]string{}
	for _, r := range all {
		if r.State != NotTestable {
			continue
		}
		why := r.Ground
		if by[why] == nil {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], r.Spec.Name())
	}
	for _, why := range reasons {
		names := by[why]
		if more := len(names) - untriedShown; more > 0 {
			names = append(names[:untriedShown:untriedShown], quantity.Plural(more, "other"))
		}
		lines = append(lines, "Not testable here: "+strings.Join(names, "; ")+": "+why)
	}
	return lines
}

// evidence lists every number, with the interval that decides it.
func (all Results) evidence() part.Table {
	t := part.Table{
		Caption: "Every number that a statement needs, with the interval that decides it. All conditions of a statement must hold; of best(…) one arm is enough.",
		Columns: slices.Concat(part.Titles("statement", "condition", "of"), part.Figures("measured", "blocks"), part.Titles("state")), Folded: true,
	}
	for _, r := range all {
		for _, e := range r.Evidence {
			t.Rows = append(t.Rows, []part.Datum{
				part.Word(r.Spec.Name()), part.Word(r.Spec.That[e.Part]), part.Word(e.What), part.Value(e.Measured, ""), part.Count(e.Blocks), {Text: string(e.State), Detail: e.Reason},
			})
		}
		if len(r.Under) > 0 {
			t.Notes = append(t.Notes, r.Spec.Name()+": tested "+strings.Join(r.Under, "; ")+".")
		}
	}
	if slices.ContainsFunc(all, func(r Result) bool {
		return slices.ContainsFunc(r.Evidence, func(e Evidence) bool { return e.Form == Coefficient })
	}) {
		t.Notes = append(t.Notes, "Coefficients are fitted within each block, by metric = a + per × (b + c × factor + …).")
	}
	return t
}
