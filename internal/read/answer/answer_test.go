package answer_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/quantity"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
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
	return compare.Comparison{Metric: metric, Cell: cell, Arm: arm, Base: "base", Primary: true, Ratio: ratio[0], Low: ratio[1], High: ratio[2], Verdict: v}
}

func runOf(primary []string, comparisons ...compare.Comparison) compare.Run {
	study := record.Study{Compare: record.Compare{Baseline: "base", Primary: primary}}
	return compare.Run{Header: record.Header{Study: study}, Comparisons: comparisons}
}

func TestSentences(t *testing.T) {
	open := judged(p99, "", "fast", [3]float64{0.55, 0.18, 1.7}, compare.CannotTell)
	open.Decides = "10 blocks would decide it: netdyno run DIR --continue"
	broken := judged(cpu, "", "fast", [3]float64{0, 0, 0}, compare.Invalid)
	broken.Reason = "no valid trial"
	for name, c := range map[string]struct {
		run  compare.Run
		want string
	}{
		"a winner, and what is open": {
			runOf([]string{cpu, p99}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), open),
			"fast needs 34 % less server CPU per exchange than base (31–37 %). The p99 response time of fast against base is not settled: 0.550× (0.180–1.70); 10 blocks would decide it: netdyno run DIR --continue.",
		},
		"a winner on both": {
			runOf([]string{cpu, rate}, judged(cpu, "", "fast", [3]float64{0.66, 0.63, 0.69}, compare.Better), judged(rate, "", "fast", [3]float64{1.25, 1.2, 1.31}, compare.Better)),
			"fast needs 34 % less server CPU per exchange than base (31–37 %). It also reaches 25 % higher exchange rate than base (20–31 %).",
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
			"base is ahead of every other arm on server CPU per exchange: slow needs 50 % more server CPU per exchange than base (40–60 %); slower needs 80 % more server CPU per exchange than base (70–90 %).",
		},
		"one is worse, one is equal": {
			runOf([]string{cpu}, judged(cpu, "", "slow", [3]float64{1.5, 1.4, 1.6}, compare.Worse), judged(cpu, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent)),
			"slow needs 50 % more server CPU per exchange than base (40–60 %); same is equal.",
		},
		"all are equal": {
			runOf([]string{cpu}, judged(cpu, "", "same", [3]float64{1, 0.99, 1.01}, compare.Equivalent)),
			"Server CPU per exchange: same and base are equal within 2.0 %.",
		},
		"nothing can be compared": {runOf([]string{cpu}, broken), "On server CPU per exchange nothing can be compared with base: no valid trial."},
		"nothing at all":          {runOf([]string{cpu}), "No trial of 0 gave a valid figure."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(answer.Of(answer.Parts{Run: c.run}).Sentences, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// shownPercent finds the percentages of a sentence about one effect.
var shownPercent = regexp.MustCompile(`([0-9.]+) % (less|more|higher|lower) .*? than \S+ \(([0-9.]+)–([0-9.]+) %\)`)

// Whatever was measured, a claim says what the verdicts say, of the arms that they
// are about, and a percentage is that of the ratio as the table prints it.
func TestNoAnswerSaysMoreThanTheVerdicts(t *testing.T) {
	for seed := range uint64(60) {
		header, trials, records := synthetic.Random(seed)
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Answer.Sentences) == 0 {
			t.Fatalf("seed %d: no answer", seed)
		}
		text := strings.Join(f.Answer.Sentences, " ")
		for _, c := range f.Answer.Claims {
			for _, e := range append(append([]answer.Effect{}, c.Effects...), c.Others...) {
				if !is(f, c.Metric, e) {
					t.Errorf("seed %d: no comparison says %+v on %s", seed, e, c.Metric)
				}
			}
			held(t, seed, c)
			if c.Kind == answer.Ahead && len(c.Effects) == 1 {
				agrees(t, text, c.Effects[0])
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
			t.Errorf("seed %d: %s", seed, text)
		}
	}
}

// is tells whether a comparison of the run is the effect.
func is(f finding.Findings, metric string, e answer.Effect) bool {
	for _, c := range f.Comparisons {
		if c.Primary && c.Metric == metric && c.Arm == e.Arm && c.Cell == e.Cell && c.Ratio == e.Ratio && c.Verdict == e.Verdict {
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
