package answer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// The condition names the load, the link between the ends, and the cells that an earlier
// release left out for a time.
func TestTheConditionNamesTheLink(t *testing.T) {
	h := record.Header{Facts: record.Facts{Rig: "netns:2"}, Study: record.Study{
		Hold: map[string]string{"link.rate": "1Gbit/s"}, LeftOut: []string{"sweeps late", "connections=10,100 of sweep first"},
	}}
	got := answer.Of(answer.Found{Run: compare.Run{Header: h}}).Condition
	if want := "A link of 1 Gbit/s between two namespaces of one host, without sweeps late, connections=10,100 of sweep first."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Sends that are gathered are said with what they add to response times, where that was measured.
func TestTheConditionTellsThePace(t *testing.T) {
	summary := func(name string, us float64) cells.Summary {
		return cells.Summary{Metric: name, Figure: cells.Figure{Value: us}}
	}
	with := cells.Arm{Metrics: []cells.Summary{summary("service_mean_us", 200), summary("response_mean_us", 248)}}
	h := record.Header{Study: record.Study{Hold: map[string]string{"rate": "8000", "pace": "cheap"}}}
	for want, arms := range map[string][]cells.Arm{
		"sent together (pace=cheap)": {{}},
		"sent together (pace=cheap; on average 48.0 µs from due to sent, which response times include)": {{}, with},
	} {
		run := compare.Run{Header: h, Cells: []cells.Cell{{Arms: arms}}}
		if got := answer.Of(answer.Found{Run: run}).Condition; !strings.Contains(got, "8 k/s offered, "+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Trials without a figure are said once, those of the arm that lost most.
func TestLostTrialsAreSaid(t *testing.T) {
	arm := func(name string, trials ...trial.Trial) cells.Arm { return cells.Arm{Name: name, Trials: trials} }
	valid, died := trial.Trial{Status: trial.Valid}, trial.Trial{Status: trial.StatusFailed, Reason: "it died"}
	for _, c := range []struct {
		arms []cells.Arm
		want string
	}{
		{arms: []cells.Arm{arm("a", valid), arm("b", trial.Trial{Status: trial.StatusUnsupported}, trial.Trial{Status: trial.StatusMissing}, valid)}},
		{[]cells.Arm{arm("a", valid, died)}, "1 of 2 trials of a gave no figure: it died"},
		{[]cells.Arm{arm("a", valid, died), arm("b", died, trial.Trial{Status: trial.StatusMissing})}, "b gave no valid trial: it died, 1 other less"},
	} {
		got := strings.Join(answer.Of(answer.Found{Run: compare.Run{Cells: []cells.Cell{{Arms: c.arms}}}}).Weakens, "; ")
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What another analysis found stands with how the run was judged; models of costs come first.
func TestHeadlinesHaveTheirPlaces(t *testing.T) {
	found := answer.Of(answer.Found{Headlines: []part.Headline{
		{Place: part.Before, Sentences: []string{"2 of 2 models predict."}, Tables: []part.Table{{Caption: "models"}}},
		{Place: part.Folded, Sentences: []string{"Of 1 statement: holds 1."}},
	}})
	if found.Sentence != "2 of 2 models predict." || found.Kind != answer.Analysis || len(found.Tables) != 1 || !slices.Contains(found.Judged, "Of 1 statement: holds 1.") {
		t.Errorf("%+v", found)
	}
}

// Where a run ends undecided and servers that others started could leave the plan's CPUs, the
// line on how to go on names --pin-server, and still ends in its command.
func TestFloatingServersAreToBePinned(t *testing.T) {
	advised, others := 0, 0
	for seed := range uint64(60) {
		header, trials, records := synthetic.Random(seed)
		says := func(at *record.Standing) answer.Answer {
			header.Facts.Standing = at
			f, err := finding.Find(header, trials, records)
			if err != nil {
				t.Fatal(err)
			}
			return f.Answer
		}
		without, free := says(nil), says(&record.Standing{Floats: true})
		for _, at := range []*record.Standing{{}, {Floats: true, Pinned: true}} {
			if got := says(at); got.GoOn != without.GoOn {
				t.Errorf("seed %d: %+v: %q, want %q", seed, at, got.GoOn, without.GoOn)
			}
		}
		switch names := strings.Contains(free.GoOn, "--pin-server"); {
		case names && (free.Kind == answer.Open || free.Kind == answer.ByCell):
			advised++
		case names || free.GoOn != without.GoOn:
			t.Errorf("seed %d: %q of %q", seed, free.GoOn, free.Sentence)
		default:
			others++
		}
		if free.Command != without.Command || !strings.HasSuffix(free.GoOn, free.Command) {
			t.Errorf("seed %d: %q does not end in %q", seed, free.GoOn, free.Command)
		}
	}
	if advised == 0 || others == 0 {
		t.Errorf("%d runs advised, %d not; want some of both", advised, others)
	}
}

var (
	advised = regexp.MustCompile(`^Use (.+?)(:| up to | at | in \d|\.$)`)
	price   = regexp.MustCompile(`(?:: |; )([\w-]+) (?:needs|has|carries) `)
	worse   = regexp.MustCompile(`^([+−]\d.* %|[\d.,]+×)$`)
)

// Whatever was measured, no sentence and no row says more than was judged, and what is
// settled between arms of the tables is said in them.
func TestNoAnswerSaysMoreThanTheVerdicts(t *testing.T) {
	kinds, seeds := map[answer.Kind]int{}, uint64(2000)
	if testing.Short() {
		seeds = 60
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
		kinds[f.Answer.Kind]++
		said := f.Answer.Sentence
		if said == "" {
			t.Errorf("seed %d: no sentence", seed)
		}
		for _, wrong := range []string{"NaN", "Inf", "%!", "…", "..", "  "} {
			if strings.Contains(strings.Join(f.Answer.Text(), " "), wrong) {
				t.Errorf("seed %d: %q has %q", seed, f.Answer.Text(), wrong)
			}
		}
		useHolds(t, seed, f)
		priceHolds(t, seed, f)
		tablesHold(t, seed, f)
	}
	for _, kind := range []answer.Kind{answer.Use, answer.Open, answer.Trade} {
		if kinds[kind] == 0 {
			t.Errorf("the runs are too much alike: %v", kinds)
		}
	}
}

// useHolds demands that each arm that is to be used is shown to be the best or equal to it on
// the metrics that weigh, in every cell of which that is said.
func useHolds(t *testing.T, seed uint64, f finding.Findings) {
	t.Helper()
	found := advised.FindStringSubmatch(f.Answer.Sentence)
	if found == nil || found[1] == "any of them" {
		return
	}
	if f.Best == nil {
		t.Errorf("seed %d: %q, and nothing was judged", seed, f.Answer.Sentence)
		return
	}
	for _, arm := range strings.FieldsFunc(strings.ReplaceAll(found[1], " or ", ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		fit, beaten := 0, 0
		for _, a := range f.Best.Advice {
			if (a.Kind == best.Use || a.Kind == best.Either) && slices.Contains(a.Arms, arm) {
				fit += len(a.Cells)
			} else if !slices.Contains(a.Arms, arm) {
				beaten += len(a.Cells)
			}
		}
		everywhere := f.Answer.Kind == answer.Use && !strings.Contains(f.Answer.Sentence, "beaten in none")
		if fit == 0 || everywhere && fit < len(f.Cells) || strings.Contains(f.Answer.Sentence, "beaten in none") && beaten > 0 {
			t.Errorf("seed %d: %q, and %s is fit in %d cells, beaten in %d, by %+v", seed, f.Answer.Sentence, arm, fit, beaten, f.Best.Advice)
		}
	}
}

// priceHolds demands that each arm of which a price is said is shown to be worse on some
// metric than some arm.
func priceHolds(t *testing.T, seed uint64, f finding.Findings) {
	t.Helper()
	for _, found := range price.FindAllStringSubmatch(f.Answer.Sentence, -1) {
		holds := false
		for _, s := range f.Best.Sets {
			for _, base := range s.Arms {
				holds = holds || f.Best.PriceOf(s.Cell, s.Metric, found[1], base.Name).Worse
			}
		}
		if !holds {
			t.Errorf("seed %d: %q, and %s is shown to be worse nowhere", seed, f.Answer.Sentence, found[1])
		}
	}
}

// tablesHold demands that a row is marked as worse exactly where its arm is.
func tablesHold(t *testing.T, seed uint64, f finding.Findings) {
	t.Helper()
	if f.Best == nil || len(f.Answer.Tables) != len(f.Cells) {
		return // one metric of many cells, of which the same code makes the figures
	}
	for i, table := range f.Answer.Tables {
		for _, row := range table.Rows {
			for k, column := range table.Columns {
				d := row[k]
				if column.Metric == "" || d.Figure == nil {
					continue
				}
				said := d.Ratio != nil && worse.MatchString(d.Ratio.Text)
				if is := standing(f, f.Cells[i].Name, column.Metric, row[0].Text); said != (is == best.Worse) {
					t.Errorf("seed %d: %s of %s in %q is %q, and stands as %q", seed, column.Metric, row[0].Text, f.Cells[i].Name, d.Ratio, is)
				}
			}
		}
	}
}

func standing(f finding.Findings, cell, metric, arm string) best.Standing {
	for _, s := range f.Best.Sets {
		for _, a := range s.Arms {
			if s.Cell == cell && s.Metric == metric && a.Name == arm {
				return a.Standing
			}
		}
	}
	return ""
}

// A run of one arm says what it carries, with its interval: in a closed loop flat out, at a
// rate how quickly.
func TestOneArmAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks int
		rate   float64
		want   string
	}{
		{"closed loop", 3, 0, `^a carries about [\d.]+ k exchanges/s \([\d.]+–[\d.]+\), reached with \d+ connections`},
		{"open loop", 3, 20000, `^a answers 20.0 k exchanges/s \(.*\) on \d+ connections with a p99 of [\d.,]+ (µs|ms) \(`},
		{"one block", 1, 0, ` One round gives no interval\.$`},
	} {
		f, err := finding.Find(synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Connections: []int{10, 50}, Rate: c.rate, Blocks: c.blocks, SD: 0.02, Seed: 3}))
		if err != nil {
			t.Fatal(err)
		}
		if f.Answer.Kind != answer.Alone || !regexp.MustCompile(c.want).MatchString(f.Answer.Sentence) {
			t.Errorf("%s: %s, %q", c.name, f.Answer.Kind, f.Answer.Sentence)
		}
	}
}

// Replies in events are said by their first event, and by the gaps where there are any.
func TestRepliesInEventsAlone(t *testing.T) {
	twos, threes := synthetic.Histogram(map[time.Duration]int64{2e6: 1e5}), synthetic.Histogram(map[time.Duration]int64{3e6: 1e5})
	for _, c := range []struct{ kind, first, gaps, want string }{
		{"sse", twos, "", `^a brings the first event after 2\.00 ms \(.*\) on \d+ connections\.`},
		{"sse", twos, threes, `^a brings the first event after 2\.00 ms \(.*\) on \d+ connections, and then one every 3\.00 ms`},
		{"sse", "", threes, `^a brings one event every 3\.00 ms`},
		{"chat", twos, threes, `^a brings the first token after 2\.00 ms \(.*\) on \d+ connections, with 3\.00 ms \(.*\) between tokens: [\d.]+.k.tokens/s.in all\.`},
	} {
		header, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Connections: []int{10}, Blocks: 3, SD: 0.02, Seed: 3})
		for i := range records {
			for j := range records[i].Workers {
				if w := &records[i].Workers[j]; w.Role == contract.Client {
					w.Result.Events = &contract.Events{Count: 1e5, First: c.first, Gaps: c.gaps}
					w.Ready.Options = map[string]any{"events": c.kind}
				}
			}
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(c.want).MatchString(f.Answer.Sentence) {
			t.Errorf("%q, want %s", f.Answer.Sentence, c.want)
		}
	}
}

// What an exchange is called follows the wire that the servers speak.
func TestRequestsOrExchanges(t *testing.T) {
	for wire, want := range map[string]string{"http/1.1": "requests", "h2c": "requests", "echo": "exchanges", "": "exchanges"} {
		f := answer.Found{Run: compare.Run{Cells: []cells.Cell{{Arms: []cells.Arm{{Name: "a", Settings: map[string]string{"server.wire": wire}}}}}}}
		if got := f.Counted(); got != want {
			t.Errorf("wire %q: %s", wire, got)
		}
	}
}
