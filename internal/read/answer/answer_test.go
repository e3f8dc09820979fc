package answer_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const cpu = "server.cpu_us_per_exchange"

// What a search found is a sentence by itself where there is room, and else stands with
// how it was judged.
func TestASearchIsSaidWhereThereIsRoom(t *testing.T) {
	found := []part.Headline{{Sentences: []string{"The best goodput is 4 GB/s, of fast with 4 connections."}}}
	a := answer.Of(answer.Found{Headlines: found})
	if got := a.Sentences[len(a.Sentences)-1]; got != found[0].Sentences[0] {
		t.Errorf("the answer ends with %q", got)
	}
	long := []part.Headline{{Sentences: []string{strings.Repeat("word ", answer.MaxWords)}}}
	if a := answer.Of(answer.Found{Headlines: long}); len(a.Sentences) != 1 || len(a.Judged) != 1 {
		t.Errorf("without room %q, judged %q", a.Sentences, a.Judged)
	}
}

// The condition names the link between the ends, and the cells that a time left out.
func TestTheConditionNamesTheLinkAndWhatIsLeftOut(t *testing.T) {
	h := record.Header{Facts: record.Facts{Rig: "netns:2"}, Study: record.Study{
		Hold: map[string]string{"link.rate": "1Gbit/s"}, LeftOut: []string{"sweeps late", "connections=10,100 of sweep first"},
	}}
	got := answer.Of(answer.Found{Run: compare.Run{Header: h}}).Condition
	if want := "A link of 1 Gbit/s between two namespaces of one host, without sweeps late, connections=10,100 of sweep first."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Requirements that are broken come first, those that are met last.
func TestRequirementsInTheAnswer(t *testing.T) {
	of := func(state compare.State) compare.Requirement {
		return compare.Requirement{
			Require: record.Require{Text: "response_p99_us of fast <= 5ms", Metric: "response_p99_us", Arm: "fast", Bound: 5000},
			Cell:    "connections=50", Value: 8200, Low: 7900, High: 8500, Blocks: 6, State: state,
		}
	}
	for want, all := range map[string][]compare.Requirement{
		"The requirement response_p99_us of fast <= 5ms is broken at 50 connections: 8.20 ms (7.90–8.50).": {of(compare.Met), of(compare.Broken)},
		"The requirement response_p99_us of fast <= 5ms is met.":                                           {of(compare.Met)},
		"1 requirement cannot be told yet, 1 met.":                                                         {of(compare.Undecided), of(compare.Met)},
	} {
		a := answer.Of(answer.Found{Run: compare.Run{Requirements: all}})
		if !slices.Contains(a.Sentences, want) {
			t.Errorf("%q lacks %q", a.Sentences, want)
		}
		if broken := strings.Contains(want, "broken"); broken != (a.Sentences[0] == want) {
			t.Errorf("%q begins with %q", want, a.Sentences)
		}
	}
}

var (
	advised = regexp.MustCompile(`^Use ([^:(]+?)(:| up to | at | in | for |, the best|\.)`)
	price   = regexp.MustCompile(`(?:^|; )([\w-]+) (?:reaches|needs|has) `)
)

// Whatever was measured, an answer has at most three sentences and 60 words, is cut
// nowhere, and says no more than was judged.
func TestNoAnswerSaysMoreThanTheVerdicts(t *testing.T) {
	kinds, seeds := map[best.Kind]int{}, uint64(200)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		header, trials, records := synthetic.Random(seed)
		if seed%3 == 1 {
			header.Study.Recommend = slices.Clone(header.Study.Compare.Primary)
			slices.Reverse(header.Study.Recommend)
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		said := f.Answer.Sentences
		text := strings.Join(said, " ")
		if n := len(strings.Fields(text)); len(said) == 0 || len(said) > answer.MaxSentences || n > answer.MaxWords {
			t.Errorf("seed %d: %d sentences with %d words: %q", seed, len(said), n, said)
		}
		for _, wrong := range []string{"NaN", "Inf", "%!", "…", "..", "  "} {
			if strings.Contains(text+f.Answer.Condition, wrong) {
				t.Errorf("seed %d: %q has %q", seed, text, wrong)
			}
		}
		if f.Best == nil {
			if strings.Contains(text, "Use ") {
				t.Errorf("seed %d: %q, and nothing was judged", seed, text)
			}
			continue
		}
		for _, a := range f.Best.Advice {
			kinds[a.Kind]++
		}
		for _, sentence := range said {
			useHolds(t, seed, f, sentence)
			priceHolds(t, seed, f, sentence)
		}
		if strings.Contains(text, "whichever you like for other reasons") && (len(f.Best.Advice) != 1 || f.Best.Advice[0].Kind != best.Either) {
			t.Errorf("seed %d: %q of %+v", seed, text, f.Best.Advice)
		}
	}
	if kinds[best.Use] == 0 || kinds[best.Undecided] == 0 || kinds[best.Trade] == 0 {
		t.Errorf("the runs are too much alike: %v", kinds)
	}
}

// useHolds demands that each arm that is to be used is shown to be the best or level with it
// on the metrics that weigh, in every cell of which that is said.
func useHolds(t *testing.T, seed uint64, f finding.Findings, sentence string) {
	t.Helper()
	found := advised.FindStringSubmatch(sentence)
	if found == nil {
		return
	}
	if strings.Contains(sentence, "not decided") { // on other metrics
		shown := map[string]bool{}
		for _, s := range f.Best.Sets {
			for _, one := range s.Arms {
				good := one.Standing == best.Best || one.Standing == best.Level
				if before, there := shown[s.Metric]; one.Name == found[1] {
					shown[s.Metric] = good && (before || !there)
				}
			}
		}
		if !slices.Contains(slices.Collect(maps.Values(shown)), true) && len(f.Best.Advice) == 1 {
			t.Errorf("seed %d: %q, and %s is the best on nothing: %+v", seed, sentence, found[1], f.Best.Sets)
		}
		return
	}
	for _, arm := range strings.FieldsFunc(strings.NewReplacer(" or ", ",", " one of ", ",").Replace(found[1]), func(r rune) bool { return r == ',' || r == ' ' }) {
		fit, beaten := 0, 0
		for _, a := range f.Best.Advice {
			if (a.Kind == best.Use || a.Kind == best.Either) && slices.Contains(a.Arms, arm) {
				fit += len(a.Cells)
			} else if !slices.Contains(a.Arms, arm) {
				beaten += len(a.Cells)
			}
		}
		if everywhere := !strings.Contains(sentence, " up to ") && !strings.Contains(sentence, " at ") && !strings.Contains(sentence, " in ") && !strings.Contains(sentence, "beaten in none"); fit == 0 ||
			everywhere && fit < len(f.Cells) || strings.Contains(sentence, "beaten in none") && beaten > 0 {
			t.Errorf("seed %d: %q, and %s is fit in %d cells, beaten in %d, by %+v", seed, sentence, arm, fit, beaten, f.Best.Advice)
		}
	}
}

// priceHolds demands that each arm of which a price is said is shown to be worse on some
// metric in all cells than some arm that may be the best.
func priceHolds(t *testing.T, seed uint64, f finding.Findings, sentence string) {
	t.Helper()
	if strings.Contains(sentence, " has the ") || strings.Contains(sentence, " needs the ") {
		return // a superlative
	}
	for _, found := range price.FindAllStringSubmatch(sentence, -1) {
		holds := false
		for _, s := range f.Best.Sets {
			for _, base := range s.Arms {
				holds = holds || f.Best.PriceOf(s.Cell, s.Metric, found[1], base.Name).Worse
			}
		}
		if !holds {
			t.Errorf("seed %d: %q, and %s is shown to be worse nowhere", seed, sentence, found[1])
		}
	}
}

// The figures of an answer are those of the tables.
func TestFiguresOfAnAnswerAreThoseOfTheTables(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 2}}, Connections: []int{50}, SD: 0.01, Primary: []string{cpu}})
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range f.Cells[0].Arms[0].Metrics {
		if m.Metric != cpu {
			continue
		}
		want := fmt.Sprintf("Use a: %s of server CPU per exchange.", strings.Replace(part.FigureWords(cpu, m.Figure), "/exchange", "", 1))
		if f.Answer.Sentences[0] != want {
			t.Errorf("got %q, want %q", f.Answer.Sentences[0], want)
		}
	}
	if got := cells.ArmLabel(header.Study, "a"); got != "a" {
		t.Error(got)
	}
}
