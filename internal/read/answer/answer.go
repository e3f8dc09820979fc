// Package answer puts what a run found into the few sentences with which its report
// begins: what to use and its figures, what the other arms cost, and what is open. Before
// them stands what forbids or weakens the answer, behind them the condition under which
// the answer holds. The sentences say no more than package best has judged. It is pure.
package answer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// Bounds of an answer.
const (
	MaxSentences = 3
	MaxWords     = 60
)

// Answer is what a run says to its study's question.
type Answer struct {
	Sentences []string `json:"sentences"`           // never empty, at most MaxSentences with MaxWords
	Condition string   `json:"condition,omitempty"` // under which they hold: machine, link, load, limit
	Judged    []string `json:"judged,omitempty"`    // how that was judged, and what else was found
}

// Text are the sentences with the condition behind them.
func (a Answer) Text() []string {
	if a.Condition == "" {
		return a.Sentences
	}
	return append(slices.Clone(a.Sentences), a.Condition)
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
	Charts    view.Charts
	Floor     string // what of short times is the machine's own; "" for nothing
}

// Of answers a run's question.
func Of(f Found) Answer {
	weakens, later := f.weakens()
	said, before := f.advise(), placed(f.Headlines, part.Before)
	alone := Alone(f.Run)
	switch {
	case said.use != nil || len(before) > 0:
	case len(alone) > 0:
		said.use = []string{strings.Join(alone, " ")}
	default:
		said.use = []string{nothing(f.Run)}
	}
	pieces := []piece{{said.use, 1}, {said.open, 3}, {said.others, 2}}
	if len(before) > 0 { // what the study asks besides its comparisons
		later, said.first = append(said.first, later...), nil
		pieces = slices.Insert(pieces[:2], 0, piece{[]string{f.sentenceOf(strings.Join(before, "; "))}, 0})
	}
	lead, left := f.leading(nonEmpty(slices.Concat(weakens, said.first)...), MaxWords-words(pieces[0].forms[len(pieces[0].forms)-1:]))
	a := Answer{Sentences: fitting(lead, pieces)}
	for _, extra := range nonEmpty(slices.Concat(left, later, placed(f.Headlines, part.After), []string{kept(f.Requirements)})...) {
		if s := f.sentenceOf(extra); len(a.Sentences) < MaxSentences && words(a.Sentences)+words([]string{s}) <= MaxWords {
			a.Sentences = append(a.Sentences, s)
		} else {
			a.Judged = append(a.Judged, s)
		}
	}
	if len(alone) == 0 || len(before) > 0 {
		a.Condition = condition(f.Run, said.named)
	}
	a.Judged = slices.Concat(f.how(), a.Judged, f.dotted(placed(f.Headlines, part.Folded)))
	return a
}

// weakens is what weakens whatever else is said, and what of it can stand later.
func (f Found) weakens() (all, later []string) {
	failed, much := failures(f.Run)
	if much {
		all, failed = append(all, failed), ""
	}
	all = append(all, unanswered(f.Run))
	beside := besideOthers(f.Run)
	if f.Best != nil || len(f.Comparisons) > 0 {
		all, beside = append(all, beside), ""
	}
	return append(all, broken(f.Header.Study, f.Requirements)), []string{failed, beside}
}

// leading makes one sentence of as many clauses as there is room for, and returns the others.
func (f Found) leading(clauses []string, room int) (sentence string, left []string) {
	var said []string
	for _, c := range clauses {
		if words(said)+words([]string{c}) <= room {
			said = append(said, c)
		} else {
			left = append(left, c)
		}
	}
	if len(said) == 0 {
		return "", left
	}
	return f.sentenceOf(strings.Join(said, "; ")), left
}

// piece is a sentence of an answer in forms of which the fullest is first, and its place
// among the others.
type piece struct {
	forms []string
	place int
}

// fitting chooses of each piece the fullest form with which it and those before it fit. The
// first of them is said in any case: an answer without it says nothing.
func fitting(lead string, pieces []piece) []string {
	chosen := [4]string{}
	for i, p := range pieces {
		for k, form := range p.forms {
			chosen[p.place] = form
			all := nonEmpty(append([]string{lead}, chosen[:]...)...)
			if len(all) <= MaxSentences && words(all) <= MaxWords || i == 0 && k == len(p.forms)-1 {
				break
			}
			chosen[p.place] = ""
		}
	}
	return nonEmpty(append([]string{lead}, chosen[:]...)...)
}

func words(sentences []string) int { return len(strings.Fields(strings.Join(sentences, " "))) }

func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
}

// sentenceOf makes a clause a sentence. A name at its beginning stays as it is written.
func (f Found) sentenceOf(clause string) string {
	clause = part.Dotted(clause)
	first, _, more := strings.Cut(clause, " ")
	if !more || slices.Contains(f.labels(f.armsOf()), first) || strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLower(r) }) {
		return clause
	}
	return part.Capital(clause)
}

// placed are the first sentences of the headlines that stand in a place.
func placed(headlines []part.Headline, place part.Place) []string {
	var all []string
	for _, h := range headlines {
		if h.Place == place && len(h.Sentences) > 0 {
			all = append(all, strings.TrimSuffix(h.Sentences[0], "."))
		}
	}
	return all
}

func (f Found) dotted(clauses []string) []string {
	for i, c := range clauses {
		clauses[i] = f.sentenceOf(c)
	}
	return clauses
}

// how says how it was judged: at which look, in which order of metrics, and every advice
// where there are several.
func (f Found) how() []string {
	var all []string
	if f.Look != nil && f.Look.Sentence != "" {
		all = append(all, part.Sentence(f.Look.Sentence))
	}
	if f.Best != nil {
		all = append(all, fmt.Sprintf("Every arm was compared with every other, block by block: the truly best one is among those that may be the best in 95 of 100 runs, in %s at once; a difference below %s counts as none.",
			quantity.Plural(len(f.Best.Sets), "question"), part.Percent(f.Best.Margin)))
		if order := f.Header.Study.Recommend; len(order) > 0 {
			all = append(all, "The study puts its metrics in an order of its own: "+part.And(docsOf(order))+".")
		}
		if len(f.Best.Advice) > 1 {
			for _, a := range f.Best.Advice {
				all = append(all, f.inShort(a))
			}
		}
	}
	return append(all, nonEmpty(f.Floor)...)
}
