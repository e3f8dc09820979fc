// Package answer puts what a run found into the few sentences with which its
// report begins: who is ahead on each primary metric and by how much, what is
// traded for it or still open, and under which condition. The claims are chosen
// first, as values; sentences.go puts them into words and adds nothing. It is pure.
package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Answer is what a run says to its study's question.
type Answer struct {
	Claims    []Claim  `json:"claims,omitempty"`
	Sentences []string `json:"sentences"`           // never empty
	Condition string   `json:"condition,omitempty"` // under which they hold: the last of them
}

// Kind is what a claim says.
type Kind string

// The kinds of claims.
const (
	Ahead  Kind = "ahead"  // the arm is better than the baseline where Effects say
	Behind Kind = "behind" // no arm is better than the baseline, and these are worse
	Equal  Kind = "equal"  // every arm that can be compared is equivalent to the baseline
	Open   Kind = "open"   // no difference is settled
	None   Kind = "none"   // nothing can be compared
)

// Claim is what is said on one metric.
type Claim struct {
	Kind    Kind     `json:"kind"`
	Metric  string   `json:"metric"`
	Arm     string   `json:"arm,omitempty"` // of Ahead
	Base    string   `json:"base"`
	Effects []Effect `json:"effects"`           // that the claim rests on: of Ahead those in which the arm is better
	Others  []Effect `json:"others,omitempty"`  // the rest; of Ahead only the same arm's
	Besides bool     `json:"besides,omitempty"` // of a pair that the study compares beside those with the baseline
}

// Effect is an arm against the baseline in a cell.
type Effect struct {
	Arm     string          `json:"arm"`
	Cell    string          `json:"cell"`
	Ratio   float64         `json:"ratio"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Unknown string          `json:"unknown,omitempty"` // why the ratio is not shown; "" where it is
	Verdict compare.Verdict `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	Decides string          `json:"decides,omitempty"`
}

// metricsSaid bounds the primary metrics of which the answer speaks; the tables
// have the others.
const metricsSaid = 3

// Of answers a run's question in at most two sentences, by its comparisons and by what its
// analyses say, and adds what of short times is the machine's own, and the condition under
// which the answer holds.
func Of(run compare.Run, headlines []part.Headline, floor string) Answer {
	var a Answer
	failed, much := failures(run)
	var clauses []clause
	if much {
		clauses, failed = failed, nil
	}
	beside, metrics := besideOthers(run), compared(run)
	clauses = append(clauses, unanswered(run)...)
	if len(metrics) > 0 { // what is compared is read otherwise
		clauses = append(clauses, beside...)
	}
	clauses = append(clauses, broken(run.Requirements)...)
	before := placed(headlines, part.Before)
	for _, sentences := range before {
		clauses = append(clauses, ofSentences(sentences))
	}
	for _, metric := range metrics[:min(metricsSaid, len(metrics))] {
		a.Claims = append(a.Claims, claimOn(run, metric, leader(a.Claims)))
	}
	margin := compare.Margin(run.Header.Study.Compare)
	primary := a.Claims
	clauses = append(clauses, inWords(settledOrOpen(primary), margin)...)
	for _, pair := range run.Header.Study.Compare.Also {
		besides := claimsOnPair(run, metrics, pair)
		clauses = append(clauses, inWords(settledOrOpen(besides), margin)...)
		a.Claims = append(a.Claims, besides...)
	}
	clauses = append(clauses, inWords(nothingToCompare(primary), margin)...)
	alone := Alone(run)
	switch {
	case len(a.Claims) > 0 || len(before) > 0:
	case len(alone) > 0:
		clauses = append(clauses, clause{text: strings.Join(alone, " "), named: true})
	case len(clauses) == 0:
		clauses = append(clauses, clause{text: nothing(run)})
	}
	clauses = append(clauses, failed...)
	if len(metrics) == 0 {
		clauses = append(clauses, beside...)
	}
	for _, sentences := range placed(headlines, part.After) {
		if len(beside) > 0 { // which arms cannot be compared
			sentences = sentences[:1]
		}
		clauses = append(clauses, ofSentences(sentences))
	}
	clauses = append(clauses, kept(run.Requirements)...)
	if more := len(metrics) - metricsSaid; more > 0 {
		clauses = append(clauses, clause{text: fmt.Sprintf("the tables have %s", quantity.Plural(more, "more primary metric"))})
	}
	a.Sentences = twoSentences(clauses)
	if floor != "" {
		a.Sentences = append(a.Sentences, floor)
	}
	if words := condition(run, a.Claims); words != "" && (len(a.Claims) > 0 || len(alone) == 0) {
		a.Sentences, a.Condition = append(a.Sentences, words), words
	}
	return a
}

// placed are the sentences of the headlines that stand in a place, those of one together.
func placed(headlines []part.Headline, place part.Place) [][]string {
	var all [][]string
	for _, h := range headlines {
		if h.Place == place && len(h.Sentences) > 0 {
			all = append(all, h.Sentences)
		}
	}
	return all
}

// settledOrOpen leaves out the claims that nothing can be compared.
func settledOrOpen(claims []Claim) []Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.Kind == None })
}

func nothingToCompare(claims []Claim) []Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.Kind != None })
}

// compared lists the primary metrics that have comparisons, in the study's order.
func compared(run compare.Run) []string {
	var metrics []string
	for _, name := range run.Header.Study.Compare.Primary {
		if len(effectsOn(run, name)) > 0 {
			metrics = append(metrics, name)
		}
	}
	return metrics
}

// effectsOn returns the primary comparisons with the baseline on a metric, in
// the order of the run's comparisons.
func effectsOn(run compare.Run, metric string) []Effect {
	base := run.Header.Study.Compare.Baseline
	return effectsWhere(run, func(c compare.Comparison) bool { return c.Metric == metric && (c.Base == base || base == "") })
}

// effectsWhere returns those of the primary comparisons that are meant.
func effectsWhere(run compare.Run, meant func(compare.Comparison) bool) []Effect {
	var effects []Effect
	for _, c := range run.Comparisons {
		if c.Primary && meant(c) {
			e := Effect{
				Arm: c.Arm, Cell: c.Cell, Ratio: c.Ratio, Low: c.Low, High: c.High,
				Verdict: c.Verdict, Reason: c.Reason, Decides: c.Decides,
			}
			if c.Ratio > 0 && !c.Known() {
				e.Unknown = cells.WhyUnknown(c.Blocks, c.Of)
			}
			effects = append(effects, e)
		}
	}
	return effects
}

// baseOf is the arm by which a metric's comparisons divide.
func baseOf(run compare.Run, metric string) string {
	for _, c := range run.Comparisons {
		if c.Primary && c.Metric == metric && (c.Base == run.Header.Study.Compare.Baseline || run.Header.Study.Compare.Baseline == "") {
			return c.Base
		}
	}
	return run.Header.Study.Compare.Baseline
}

// leader is the arm that an earlier metric found ahead of the baseline; "" for
// none.
func leader(claims []Claim) string {
	for _, c := range claims {
		if c.Kind == Ahead && !c.Besides {
			return c.Arm
		}
	}
	return ""
}
