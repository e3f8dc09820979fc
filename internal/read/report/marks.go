package report

import (
	"cmp"
	"strings"

	"netdyno/internal/read/compare"
)

// mark is the verdict as one character that survives black-and-white print
// and terminals without colour.
func mark(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "+"
	case compare.Worse:
		return "−"
	case compare.Equivalent:
		return "="
	case compare.CannotTell:
		return "?"
	case compare.Invalid:
		return "×"
	case compare.Unsupported:
		return "/"
	}
	return ""
}

// marks explains mark, once per report.
const marks = "+ better   − worse   = equivalent   ? cannot tell   × invalid   / unsupported"

// stateMarks are the states of a requirement as marks.
var stateMarks = map[compare.State]string{compare.Met: "✓", compare.Broken: "✗", compare.Undecided: "?"}

// stateVerdict gives a state the colour of a verdict.
var stateVerdict = map[compare.State]compare.Verdict{
	compare.Met: compare.Better, compare.Broken: compare.Worse, compare.Undecided: compare.CannotTell,
}

// verdictClass names a verdict in the style sheet.
func verdictClass(v compare.Verdict) string {
	return "v-" + strings.ReplaceAll(cmp.Or(string(v), "none"), " ", "-")
}

// legend explains the marks of some verdicts; "" for none.
func legend(shown map[compare.Verdict]bool) string {
	var parts []string
	for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Equivalent, compare.CannotTell, compare.Invalid, compare.Unsupported} {
		if shown[v] {
			parts = append(parts, mark(v)+" "+string(v))
		}
	}
	return strings.Join(parts, "   ")
}
