package answer_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/quantity"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
)

const (
	cpu  = "server.cpu_us_per_exchange"
	p99  = "response_p99_us"
	rate = "exchanges_per_s"
)

// judged makes a comparison of an arm with arm base: its ratio, then the interval.
func judged(metric, cell, arm string, ratio [3]float64, v compare.Verdict) compare.Comparison {
	return compare.Comparison{Metric: metric, Cell: cell, Arm: arm, Base: "base", Primary: true, Blocks: 8, Of: 8, Ratio: ratio[0], Low: ratio[1], High: ratio[2], Verdict: v}
}

func runOf(primary []string, comparisons ...compare.Comparison) compare.Run {
	study := record.Study{Compare: record.Compare{Baseline: "base", Primary: primary}}
	return compare.Run{Header: record.Header{Study: study}, Comparisons: comparisons}
}

// against changes the arm by which a comparison divides.
func against(base string, c compare.Comparison) compare.Comparison {
	c.Base = base
	return c
}

// besides declares a pair that a run compares besides.
func besides(run compare.Run, arm, base string) compare.Run {
	run.Header.Study.Compare.Also = []record.Pair{{Arm: arm, Base: base}}
	return run
}

// requiring gives a run requirements that came out so.
func requiring(run compare.Run, states ...compare.State) compare.Run {
	for _, state := range states {
		run.Requirements = append(run.Requirements, compare.Requirement{
			Require: record.Require{Text: "response_p99_us of fast <= 5ms", Metric: p99, Arm: "fast", Bound: 5000},
			Cell:    "connections=50", Value: 8200, Low: 7900, High: 8500, Blocks: 6, State: state,
		})
	}
	return run
}

// Comparisons that several sentences are about.
var (
	open     = deciding(judged(p99, "", "fast", [3]float64{0.55, 0.18, 1.7}, compare.CannotTell), "10 blocks would decide it: netdyno run DIR --continue")
	longOpen = deciding(judged(p99, "", "fast", [3]float64{1.04, 0.452, 2.4}, compare.CannotTell),
		"not even 1000 blocks would decide it; start a new run with a window longer than 2s, or with another margin")
	broken, brokenToo = lost(cpu), lost(p99)
)

func deciding(c compare.Comparison, decides string) compare.Comparison {
	c.Decides = decides
	return c
}

func lost(metric string) compare.Comparison {
	c := judged(metric, "", "fast", [3]float64{0, 0, 0}, compare.Invalid)
	c.Reason = "no valid trial"
	return c
}

func openOf(arm string) compare.Comparison {
	return judged(p99, "", arm, [3]float64{1.1, 0.5, 2}, compare.CannotTell)
}

var sentences = map[string]struct {
	run  compare.Run
	want string
}{
	"a winner, and what is open": {
		runOf([]string{cpu, p99}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), open),
		"fast needs 34 % less server CPU per exchange than base (31–37 %). Its p99 response time is not settled: 0.550× (0.180–1.70); 10 blocks would decide it: netdyno run DIR --continue.",
	},
	"a winner on both": {
		runOf([]string{cpu, rate}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(rate, "", "fast", [3]float64{1.25, 1.2, 1.31}, compare.Better)),
		"fast needs 34 % less server CPU per exchange than base (31–37 %) and reaches a 25 % higher exchange rate (20–31 %).",
	},
	"the better of two": {
		runOf([]string{cpu}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(cpu, "", "faster", [3]float64{0.5, 0.45, 0.55}, compare.Better)),
		"faster needs 50 % less server CPU per exchange than base (45–55 %).",
	},
	"all cells": {
		runOf([]string{cpu}, judged(cpu, "connections=50", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(cpu, "connections=1000", "fast", [3]float64{0.5, 0.45, 0.55}, compare.Better)),
		"fast needs 34–50 % less server CPU per exchange than base (31–55 %) in both cells.",
	},
	"one cell of two": {
		runOf([]string{cpu}, judged(cpu, "connections=50", "fast", [3]float64{0.99, 0.98, 1.01}, compare.Equivalent), judged(cpu, "connections=1000", "fast", [3]float64{0.5, 0.45, 0.55}, compare.Better)),
		"fast needs 50 % less server CPU per exchange than base (45–55 %) at 1,000 connections; equal at 50 connections.",
	},
	"better here, worse there": {
		runOf([]string{cpu}, judged(cpu, "connections=1", "fast", [3]float64{1.4, 1.3, 1.5}, compare.Worse), judged(cpu, "connections=50", "fast", [3]float64{0.5, 0.45, 0.55}, compare.Better)),
		"fast needs 50 % less server CPU per exchange than base (45–55 %) at 50 connections; worse at 1 connection, 1.40× (1.30–1.50).",
	},
	"much more": {
		runOf([]string{cpu}, judged(cpu, "", "slow", [3]float64{3.2, 3, 3.4}, compare.Worse)),
		"slow needs 3.20× the server CPU per exchange of base (3.00–3.40).",
	},
	"the baseline is ahead of all": {
		runOf([]string{cpu}, judged(cpu, "", "slow", [3]float64{1.5, 1.4, 1.6}, compare.Worse), judged(cpu, "", "slower", [3]float64{1.8, 1.7, 1.9}, compare.Worse)),
		"base is ahead of every other arm on server CPU per exchange: slow needs 50 % more (40–60 %), slower 80 % more (70–90 %).",
	},
	"some are worse, the others open": {
		runOf([]string{cpu}, judged(cpu, "", "a", [3]float64{1.5, 1.4, 1.6}, compare.Worse), judged(cpu, "", "b", [3]float64{3.2, 3, 3.4}, compare.Worse),
			judged(cpu, "", "c", [3]float64{1.1, 0.9, 1.3}, compare.CannotTell), judged(cpu, "", "d", [3]float64{1.2, 0.9, 1.4}, compare.CannotTell)),
		"a needs 50 % more server CPU per exchange than base (40–60 %), b 3.20× (3.00–3.40); c and d are not settled.",
	},
	"a loser on both": {
		runOf([]string{cpu, rate}, judged(cpu, "", "slow", [3]float64{1.5, 1.4, 1.6}, compare.Worse), judged(rate, "", "slow", [3]float64{0.78, 0.73, 0.83}, compare.Worse)),
		"slow needs 50 % more server CPU per exchange than base (40–60 %) and has a 22 % lower exchange rate (17–27 %).",
	},
	"what would decide it in short": {
		runOf([]string{p99}, longOpen), "The p99 response time of fast against base is not settled: 1.04× (0.452–2.40); not even 1000 blocks would decide it.",
	},
	"nothing is settled": {
		runOf([]string{p99}, openOf("a"), openOf("b"), openOf("c"), openOf("d")),
		"P99 response time is not settled for any arm against base: a has 1.10× (0.500–2.00).",
	},
	"nothing, for one reason": {
		runOf([]string{cpu, p99}, broken, brokenToo), "On server CPU per exchange and p99 response time nothing can be compared with base: no valid trial.",
	},
	"one is worse, one is equal": {
		runOf([]string{cpu}, judged(cpu, "", "slow", [3]float64{1.5, 1.4, 1.6}, compare.Worse), judged(cpu, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent)),
		"slow needs 50 % more server CPU per exchange than base (40–60 %); same is equal.",
	},
	"all are equal": {
		runOf([]string{cpu}, judged(cpu, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent)),
		"same and base are equal within 2.0 % on server CPU per exchange.",
	},
	"better here, worse on another": {
		runOf([]string{cpu, p99, rate}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(p99, "", "fast", [3]float64{1.18, 1.1, 1.26}, compare.Worse),
			judged(rate, "", "fast", [3]float64{1.25, 1.2, 1.31}, compare.Better)),
		"fast needs 34 % less server CPU per exchange than base (31–37 %) and reaches a 25 % higher exchange rate (20–31 %) but has an 18 % higher p99 response time (10–26 %).",
	},
	"in the same cells": {
		runOf([]string{cpu, rate}, judged(cpu, "connections=50", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(rate, "connections=50", "fast", [3]float64{1.25, 1.2, 1.31}, compare.Better)),
		"fast needs 34 % less server CPU per exchange than base (31–37 %) and reaches a 25 % higher exchange rate (20–31 %), each at 50 connections.",
	},
	"two are open": {
		runOf([]string{cpu, p99}, judged(cpu, "", "fast", [3]float64{0.9, 0.8, 1.1}, compare.CannotTell), open),
		"fast against base is not settled: server CPU per exchange 0.900× (0.800–1.10), p99 response time 0.550× (0.180–1.70); 10 blocks would decide it: netdyno run DIR --continue.",
	},
	"equal on two": {
		runOf([]string{cpu, p99}, judged(cpu, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent), judged(p99, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent)),
		"same and base are equal within 2.0 % on server CPU per exchange and p99 response time.",
	},
	"a pair besides": {
		besides(runOf([]string{cpu}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), against("fast", judged(cpu, "", "faster", [3]float64{0.9, 0.88, 0.92}, compare.Better))), "faster", "fast"),
		"fast needs 34 % less server CPU per exchange than base (31–37 %). faster needs 10 % less server CPU per exchange than fast (8.0–12 %).",
	},
	"a pair that is worse, after what is open": {
		besides(runOf([]string{p99}, open, against("fast", judged(p99, "", "other", [3]float64{1.5, 1.4, 1.6}, compare.Worse))), "other", "fast"),
		"The p99 response time of fast against base is not settled: 0.550× (0.180–1.70); 10 blocks would decide it: netdyno run DIR --continue. other has a 50 % higher p99 response time than fast (40–60 %).",
	},
	"a broken requirement comes first": {
		requiring(runOf([]string{cpu}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better)), compare.Met, compare.Broken),
		"The requirement response_p99_us of fast <= 5ms is broken at 50 connections: 8.20 ms (7.90–8.50). fast needs 34 % less server CPU per exchange than base (31–37 %); 1 requirement is met.",
	},
	"a requirement that is met": {
		requiring(runOf([]string{cpu}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better)), compare.Met),
		"fast needs 34 % less server CPU per exchange than base (31–37 %). The requirement response_p99_us of fast <= 5ms is met.",
	},
	"a requirement that is open": {
		requiring(runOf([]string{cpu}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better)), compare.Undecided, compare.Met),
		"fast needs 34 % less server CPU per exchange than base (31–37 %). 1 requirement cannot be told yet, 1 met.",
	},
	"nothing can be compared": {runOf([]string{cpu}, broken), "On server CPU per exchange nothing can be compared with base: no valid trial."},
	"nothing at all":          {runOf([]string{cpu}), "No trial of 0 gave a valid figure."},
}

func TestSentences(t *testing.T) {
	for name, c := range sentences {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(answer.Of(c.run, nil, "").Sentences, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What a search found is a sentence by itself, or a part of one.
func TestASearchJoinsASentence(t *testing.T) {
	found := []part.Headline{{Sentences: []string{"The best goodput is 4 GB/s, of fast with 4 connections.", "slow reaches 95 % of it with 8 connections."}}}
	faster := judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better)
	for want, run := range map[string]compare.Run{
		". The best goodput is 4 GB/s, of fast with 4 connections; slow reaches 95 % of it": runOf([]string{cpu}, faster),
		"; the best goodput is 4 GB/s, of fast with 4 connections; slow reaches 95 % of it": runOf([]string{cpu, p99}, faster, open),
	} {
		if said := strings.Join(answer.Of(run, found, "").Sentences, " "); !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
}

// shownPercent finds the percentages of a sentence about one effect.
var shownPercent = regexp.MustCompile(`([0-9.]+) % (less|more|higher|lower) .*?\(([0-9.]+)–([0-9.]+) %\)`)

// Whatever was measured, a claim says what the verdicts say, of the arms that they
// are about, and a percentage is that of the ratio as the table prints it.
func TestNoAnswerSaysMoreThanTheVerdicts(t *testing.T) {
	for seed := range uint64(60) {
		header, trials, records := synthetic.Random(seed)
		arm := header.Study.Compare.Baseline
		for i, bound := range []float64{30, 60, 1e6}[:seed%4%3+seed%2] {
			header.Study.Requires = append(header.Study.Requires, record.Require{
				Text: fmt.Sprintf("requirement %d", i), Metric: cpu, Arm: arm, Bound: bound, AtLeast: seed%5 == 0,
			})
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Answer.Sentences) == 0 {
			t.Fatalf("seed %d: no answer", seed)
		}
		if n := len(f.Answer.Sentences); n > 3 {
			t.Errorf("seed %d: %d sentences, want two and the condition: %q", seed, n, f.Answer.Sentences)
		}
		text := strings.Join(f.Answer.Sentences, " ")
		tallied(t, seed, text, f.Requirements)
		for _, c := range f.Answer.Claims {
			for _, e := range append(append([]answer.Effect{}, c.Effects...), c.Others...) {
				if !is(f, c, e) {
					t.Errorf("seed %d: no comparison says %+v on %s", seed, e, c.Metric)
				}
			}
			held(t, seed, c)
			if c.Kind == answer.Ahead && len(c.Effects) == 1 && !strings.Contains(text, "the tables have the rest") {
				agrees(t, text, c.Effects[0])
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
			t.Errorf("seed %d: %s", seed, text)
		}
	}
}

// tallied demands of an answer that it begins with a requirement that is broken, if
// one is, and says of no other that it is.
func tallied(t *testing.T, seed uint64, text string, all []compare.Requirement) {
	t.Helper()
	count := map[compare.State]int{}
	for _, r := range all {
		count[r.State]++
		if says := strings.Contains(text, "The requirement "+r.Text+" is broken"); says && r.State != compare.Broken {
			t.Errorf("seed %d: %q, and %s is %s", seed, text, r.Text, r.State)
		}
	}
	if count[compare.Broken] > 0 != (strings.HasPrefix(text, "The requirement ") && strings.Contains(text, " is broken")) {
		t.Errorf("seed %d: %d requirements are broken: %q", seed, count[compare.Broken], text)
	}
	if strings.Contains(text, "are met") && count[compare.Broken]+count[compare.Undecided] == 0 && count[compare.Met] != len(all) {
		t.Errorf("seed %d: %v: %q", seed, count, text)
	}
}

// is tells whether a comparison of the run is the effect.
func is(f finding.Findings, claim answer.Claim, e answer.Effect) bool {
	for _, c := range f.Comparisons {
		if c.Primary && c.Metric == claim.Metric && c.Base == claim.Base && c.Arm == e.Arm && c.Cell == e.Cell && c.Ratio == e.Ratio && c.Verdict == e.Verdict {
			return true
		}
	}
	return false
}

// held demands of a claim the verdicts of its kind.
func held(t *testing.T, seed uint64, c answer.Claim) {
	t.Helper()
	want := map[answer.Kind]compare.Verdict{
		answer.Ahead: compare.Better, answer.Behind: compare.Worse, answer.Equal: compare.Equivalent, answer.Open: compare.CannotTell, answer.None: compare.Invalid,
	}[c.Kind]
	if len(c.Effects) == 0 {
		t.Errorf("seed %d: claim %+v rests on nothing", seed, c)
	}
	for _, e := range c.Effects {
		if e.Verdict != want || c.Kind == answer.Ahead && e.Arm != c.Arm {
			t.Errorf("seed %d: a claim that is %s of %s rests on %+v", seed, c.Kind, c.Arm, e)
		}
	}
	for _, e := range c.Others {
		if c.Kind != answer.Ahead && e.Verdict == compare.Better {
			t.Errorf("seed %d: a claim that is %s leaves out %+v", seed, c.Kind, e)
		}
	}
}

// agrees compares the percentages of a sentence with the ratio as it is printed.
func agrees(t *testing.T, text string, e answer.Effect) {
	t.Helper()
	if e.Ratio > 2 {
		return
	}
	printed, err := strconv.ParseFloat(quantity.FormatFigure(e.Ratio), 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range shownPercent.FindAllStringSubmatch(text, -1) {
		share, _ := strconv.ParseFloat(found[1], 64)
		below := found[2] == "less" || found[2] == "lower"
		if math.Abs(share-100*math.Abs(printed-1)) <= 0.51 && below == (e.Ratio < 1) {
			return
		}
	}
	t.Errorf("%q does not say that the ratio is %v", text, printed)
}
