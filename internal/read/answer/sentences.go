package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// clause is what is said of one thing: a sentence without its capital and its full
// stop.
type clause struct {
	text  string
	named bool   // it begins with a name, which is written as it is
	arm   string // that it says to be better, where it begins so
	about string // the one arm that it is about
}

// clausesSaid bounds what the second sentence joins; the tables have the rest.
const clausesSaid = 3

// twoSentences makes at most two sentences of clauses, in their order: the first
// stands by itself.
func twoSentences(clauses []clause) []string {
	if len(clauses) == 0 {
		return nil
	}
	said := []string{sentence(clauses[:1])}
	if rest := clauses[1:]; len(rest) > 0 {
		if more := len(rest) - clausesSaid; more > 0 {
			rest = append(slices.Clone(rest[:clausesSaid]), clause{text: "the tables have the rest"})
		}
		if arm := clauses[0].arm; arm != "" && arm == rest[0].arm {
			again := clause{text: "it also" + strings.TrimPrefix(rest[0].text, arm)}
			rest = append([]clause{again}, rest[1:]...)
		}
		said = append(said, sentence(rest))
	}
	return said
}

func sentence(clauses []clause) string {
	var texts []string
	for _, c := range clauses {
		texts = append(texts, c.text)
	}
	text := strings.Join(texts, "; ")
	if !clauses[0].named {
		text = capital(text)
	}
	return strings.TrimSuffix(text, ".") + "."
}

// ofSentences makes one clause of sentences that were made elsewhere. One that does not
// begin with a common word begins with a name.
func ofSentences(sentences []string) clause {
	texts := make([]string, len(sentences))
	for i, text := range sentences {
		if texts[i] = strings.TrimSuffix(text, "."); i > 0 {
			texts[i] = strings.ToLower(text[:1]) + texts[i][1:]
		}
	}
	joined := strings.Join(texts, "; ")
	for _, word := range []string{"The ", "Of ", "All ", "None "} {
		if strings.HasPrefix(joined, word) {
			return clause{text: strings.ToLower(joined[:1]) + joined[1:]}
		}
	}
	return clause{text: joined, named: true} // by an arm
}

// rank puts differences before equality, and both before what is open.
func rank(k Kind) int { return slices.Index([]Kind{Ahead, Behind, Equal, Open, None}, k) }

// inWords says what the claims on one baseline, or on one pair, claim: one clause
// for each arm that differs, one for what is equal, one for what is open.
func inWords(claims []Claim, margin float64) []clause {
	ordered := slices.Clone(claims)
	slices.SortStableFunc(ordered, func(a, b Claim) int { return rank(a.Kind) - rank(b.Kind) })
	var clauses []clause
	var said said
	for len(ordered) > 0 {
		alike, others := alikeFirst(ordered)
		next := together(alike, said, margin)
		clauses, ordered, said = append(clauses, next), others, saidBy(alike, next)
	}
	return clauses
}

// said is what the clause before has named, and the next need not name again.
type said struct{ base, arm string }

func saidBy(claims []Claim, c clause) said {
	if claims[0].Kind == Equal { // whose arms and base are named alike
		return said{}
	}
	return said{claims[0].Base, c.about}
}

// against is a claim's base where it must be named.
func (s said) against(c Claim) string {
	if c.Base == s.base {
		return ""
	}
	return c.Base
}

// alikeFirst parts the claims that are said together with the first from the
// others: on one arm alone where it differs, on the same arms where they are equal
// or open. One that names cells apart is said by itself.
func alikeFirst(claims []Claim) (alike, others []Claim) {
	first := claims[0]
	for i, c := range claims {
		if i == 0 || len(c.Others) == 0 && len(first.Others) == 0 && likeness(c) != "" && likeness(c) == likeness(first) {
			alike = append(alike, c)
		} else {
			others = append(others, c)
		}
	}
	return alike, others
}

// likeness is the same for claims that one clause can say.
func likeness(c Claim) string {
	arms := armsOf(c.Effects)
	slices.Sort(arms)
	switch {
	case c.Kind == Ahead:
		return "differs: " + c.Arm
	case c.Kind == Behind && len(arms) == 1:
		return "differs: " + arms[0]
	case c.Kind == None:
		return "nothing: " + c.Effects[0].Reason
	case c.Kind == Equal, c.Kind == Open:
		return string(c.Kind) + ": " + strings.Join(arms, ", ")
	}
	return ""
}

// together says claims that are alike.
func together(claims []Claim, said said, margin float64) clause {
	first, about := claims[0], ""
	if arms := armsOf(first.Effects); len(arms) == 1 {
		about = arms[0]
	}
	base := said.against(first)
	switch first.Kind {
	case Ahead:
		return clause{first.Arm + " " + differences(claims, base), true, first.Arm, first.Arm}
	case Behind:
		if len(claims) > 1 {
			return clause{about + " " + differences(claims, base), true, "", about}
		}
		return clause{behind(metric.Shown(first.Metric), first, base), true, "", about}
	case Equal:
		equal := part.And(append(armsOf(first.Effects), first.Base))
		if n := len(armsOf(first.Effects)) + 1; n > 3 && len(first.Others) == 0 {
			equal = fmt.Sprintf("all %d arms", n)
		}
		return clause{text: fmt.Sprintf("%s are equal within %s %% on %s%s%s", equal, percent(margin),
			part.And(docs(claims)), inAll(cellsOf(first.Effects)), elsewhere(first.Others)), named: !strings.HasPrefix(equal, "all ")}
	case Open:
		if len(claims) > 1 {
			return openTogether(claims, base)
		}
		return clause{text: openWords(metric.Shown(first.Metric), first, said), about: about}
	}
	reason := strings.TrimSuffix(first.Effects[0].Reason, ".")
	if strings.HasSuffix(reason, compare.OthersTurnRatios) { // what others used is said before
		reason = compare.OthersTurnRatios
	}
	return clause{text: fmt.Sprintf("on %s nothing can be compared with %s: %s", part.And(docs(claims)), first.Base, reason)}
}

// differences says how one arm differs on several metrics; "but" stands where the
// direction turns. base is the baseline where it must be named.
func differences(claims []Claim, base string) string {
	var b strings.Builder
	where := inCells(claims[0].Effects, claims[0].Others)
	once := len(claims) > 1 && !slices.ContainsFunc(claims, func(c Claim) bool { return inCells(c.Effects, c.Others) != where })
	for i, c := range claims {
		switch {
		case i == 0:
		case c.Kind != claims[i-1].Kind:
			b.WriteString(" but ")
		case i+1 < len(claims) && claims[i+1].Kind == c.Kind:
			b.WriteString(", ")
		default:
			b.WriteString(" and ")
		}
		m := metric.Shown(c.Metric)
		text, way := differs(m, base, c.Effects), verb(m, c.Effects[0].Ratio < 1)
		if i > 0 && way == verb(metric.Shown(claims[i-1].Metric), claims[i-1].Effects[0].Ratio < 1) {
			text = strings.TrimPrefix(text, way+" ") // needs … and needs
		}
		b.WriteString(text)
		base = ""
		if !once {
			b.WriteString(inCells(c.Effects, c.Others) + elsewhere(c.Others))
		}
	}
	if once && where != "" {
		b.WriteString(", each" + where)
	}
	return b.String()
}

// behind names the arms that are worse than the baseline, the nearest first, and
// the metric and the baseline once. Only when all are does the baseline come before
// every other.
func behind(m metric.Metric, c Claim, base string) string {
	arms := armsOf(c.Effects)
	first := ""
	if len(arms) > 1 && len(c.Others) == 0 {
		first = fmt.Sprintf("%s is ahead of every other arm on %s: ", c.Base, m.Doc)
		m.Doc, base = "", ""
	}
	var parts []string
	for i, arm := range arms {
		if i == armsSaid {
			parts = append(parts, fmt.Sprintf("and %d more", len(arms)-i))
			break
		}
		own, others := ofArm(arm, c.Effects), ofArm(arm, c.Others)
		by := differs(m, base, own)
		if i > 0 {
			_, by, _ = strings.Cut(by, " ") // the verb is said
		}
		parts = append(parts, arm+" "+by+inCells(own, others)+elsewhere(others))
		m.Doc, base = "", ""
	}
	return first + strings.Join(parts, ", ") + rest(arms, c.Others)
}

// armsSaid bounds the arms that a clause names.
const armsSaid = 3

// few names some arms, and counts the others.
func few(arms []string) string {
	if more := len(arms) - armsSaid + 1; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(arms[:armsSaid-1], ", "), more)
	}
	return part.And(arms)
}

// openWords says what is not settled, by the largest of the open differences, and what
// would settle it.
func openWords(m metric.Metric, c Claim, said said) string {
	e := slices.MaxFunc(c.Effects, compareSize)
	arms, base := armsOf(c.Effects), after(" against ", said.against(c))
	text := ""
	switch {
	case len(arms) == 1 && arms[0] == said.arm && base == "":
		text = "its " + m.Doc + " is not settled"
	case len(arms) > armsSaid && len(c.Others) == 0:
		text = m.Doc + " is not settled for any arm" + base
	default:
		text = fmt.Sprintf("the %s of %s%s is not settled", m.Doc, few(arms), base)
	}
	if e.Ratio > 0 {
		most := ""
		if len(c.Effects) > 1 {
			most = e.Arm + atCell(e.Cell) + " has "
		}
		text += ": " + most + spread(e)
	} else if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text + decides(e) + rest(arms, c.Others)
}

// openTogether says several metrics that are not settled, each by its largest
// difference.
func openTogether(claims []Claim, base string) clause {
	var parts []string
	decided := ""
	for _, c := range claims {
		e := slices.MaxFunc(c.Effects, compareSize)
		part := metric.Shown(c.Metric).Doc
		if e.Ratio > 0 {
			part += " " + spread(e)
			if len(c.Effects) > 1 {
				part += " of " + e.Arm + atCell(e.Cell)
			}
		}
		parts = append(parts, part)
		if decided == "" {
			decided = decides(e)
		}
	}
	arms := armsOf(claims[0].Effects)
	text := fmt.Sprintf("%s%s%s not settled: %s", few(arms), after(" against ", base), isAre(len(arms)), strings.Join(parts, ", "))
	return clause{text: text + decided, named: true}
}

func spread(e Effect) string {
	if e.Unknown != "" {
		return cells.Unknown + " (" + e.Unknown + ")"
	}
	text := part.TimesIn(e.Ratio, e.Low, e.High)
	if apart := e.Low > 1 || e.High < 1; apart && e.Verdict == compare.CannotTell && e.Reason != "" {
		text += ", but " + e.Reason // which the interval does not show
	}
	return text
}

// decides is how many blocks would decide a comparison, with the command where one
// goes on; how else to proceed stands with the comparison.
func decides(e Effect) string {
	short, _, _ := strings.Cut(e.Decides, "; ")
	if what, how, found := strings.Cut(short, ": "); found && !strings.HasPrefix(how, "netdyno") {
		short = what
	}
	return after("; ", short)
}

func docs(claims []Claim) []string {
	var all []string
	for _, c := range claims {
		all = append(all, metric.Shown(c.Metric).Doc)
	}
	return all
}
