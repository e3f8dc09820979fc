package finding_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

func find(t *testing.T, h record.Header, trials []record.Trial, records []record.Record) finding.Findings {
	t.Helper()
	f, err := finding.Find(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func comparison(t *testing.T, f finding.Findings, cell, metric, arm string) compare.Comparison {
	t.Helper()
	for _, c := range f.Comparisons {
		if c.Cell == cell && c.Metric == metric && c.Arm == arm {
			return c
		}
	}
	t.Fatalf("no comparison of %s on %s at %q", arm, metric, cell)
	return compare.Comparison{}
}

const serverCPU = "server.cpu_us_per_exchange"

func TestKnownTruthComesOut(t *testing.T) {
	for _, rate := range []float64{0, 20000} {
		f := findIn(t, synthetic.Options{Rate: rate, SD: 0.005, BlockSD: 0.1, Blocks: 10, Seed: 3})
		if f.Tally.Valid != 80 || f.Tally.Planned != 80 || f.Tally.WindowShare < 0.9 || f.Tally.WindowShare > 1 {
			t.Fatalf("tally %+v; first reasons %v", f.Tally, reasons(f))
		}
		for _, cell := range []string{"connections=50", "connections=1000"} {
			c := comparison(t, f, cell, serverCPU, "go-epoll")
			if c.Verdict != compare.Better || math.Abs(c.Ratio-0.61) > 0.01 || c.Low > 0.61 || c.High < 0.61 || c.Blocks != 10 {
				t.Errorf("rate %v, %s: %+v", rate, cell, c)
			}
			if c.Family != 8 || c.Method != compare.Holm || c.Adjusted < c.P || !c.Primary {
				t.Errorf("family %+v", c)
			}
		}
		if want := map[float64]trial.Limit{0: trial.Latency, 20000: trial.Schedule}[rate]; f.Cells[0].Arms[1].Limit != want {
			t.Errorf("limit %s (%s), want %s", f.Cells[0].Arms[1].Limit, f.Cells[0].Arms[1].LimitProof, want)
		}
		if names := f.Cells[0].Arms; names[0].Name != "go-net" || !names[0].Baseline || names[2].Name != "asio" || f.Cells[1].Name != "connections=1000" {
			t.Error("arms or cells left the study's order")
		}
	}
}

func findIn(t *testing.T, o synthetic.Options) finding.Findings {
	t.Helper()
	h, trials, records := synthetic.Run(o)
	return find(t, h, trials, records)
}

func reasons(f finding.Findings) []string {
	var all []string
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, trial := range arm.Trials {
				if trial.Reason != "" {
					all = append(all, trial.Status+": "+trial.Reason)
				}
			}
		}
	}
	return all
}

func TestAnswerReadsAsASentence(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20000, Blocks: 8, SD: 0.002, Seed: 1, Connections: []int{10000},
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll", Cost: 0.61}}, Primary: []string{serverCPU},
	})
	f := find(t, h, trials, records)
	const want = "At 10,000 connections, go-epoll needs 0.610× the server CPU per exchange of go-net " +
		"(95 % interval 0.609–0.611, 8 blocks, margin 2 %): better. Limit: schedule."
	if len(f.Answers) != 1 || f.Answers[0] != want {
		t.Errorf("answers %q,\nwant %q", f.Answers, want)
	}
}

// The same records in any order give the same findings.
func TestFindIsDeterministic(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.02, Seed: 9, Rate: 15000})
	text := func() string {
		b, err := json.Marshal(find(t, h, trials, records))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := text()
	for range 3 {
		slices.Reverse(records)
		if text() != first {
			t.Fatal("findings depend on the order of records or on a map's")
		}
	}
}

func TestSeveralClientsAreOneLoad(t *testing.T) {
	one := findIn(t, synthetic.Options{Blocks: 6, SD: 0.01, Seed: 2, Rate: 20000})
	three := findIn(t, synthetic.Options{Blocks: 6, SD: 0.01, Seed: 2, Rate: 20000, Clients: 3})
	if three.Tally.Valid != three.Tally.Planned {
		t.Fatalf("tally %+v: %v", three.Tally, reasons(three))
	}
	a, b := one.Cells[0].Arms[0].Trials[0], three.Cells[0].Arms[0].Trials[0]
	for name, value := range a.Values.All() {
		ofThree := name == "client.threads" || name == "client.goroutines" || strings.HasPrefix(name, "client.") && strings.HasSuffix(name, "_bytes")
		if !ofThree && math.Abs(b.Values.At(name)-value) > 0.015*math.Abs(value)+1e-6 {
			t.Errorf("%s = %v with three clients, %v with one", name, b.Values.At(name), value)
		}
	}
	if len(a.Series) == 0 || len(a.Series) != len(b.Series) || math.Abs(a.Series[2].ExchangesPerS-b.Series[2].ExchangesPerS) > 50 {
		t.Errorf("series %v with one client, %v with three", a.Series, b.Series)
	}
	inside := 0
	for _, slice := range a.Series {
		if slice.InWindow {
			inside++
		}
	}
	if inside != 9 { // ticks at 0.6, 0.8 … 2.4 s, the window from 0.5 to 2.5 s
		t.Errorf("%d slices inside the window, want 9", inside)
	}
}

func TestStrayRecordsAreNamedAndLeftOut(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Bare: true})
	want := find(t, h, trials, records)
	unknown, double := records[0], records[3]
	unknown.Trial.ID = "b99-001"
	double.Outcome = record.Failed
	f := find(t, h, append(trials, trials[5]), append(records, unknown, double))
	if !reflect.DeepEqual(f.Comparisons, want.Comparisons) || f.Tally != want.Tally {
		t.Error("stray records changed the findings")
	}
	text, _ := json.Marshal(f.Warnings)
	for _, id := range []string{"b99-001", double.Trial.ID, trials[5].ID} {
		if !strings.Contains(string(text), id) {
			t.Errorf("no warning names %s: %s", id, text)
		}
	}
}

func TestOutcomesAreKeptApart(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Bare: true})
	records[0].Outcome, records[0].Failure = record.Failed, &record.Failure{Kind: contract.Peer, Text: "connection refused", Worker: "client-1", State: "ready"}
	records[1].Outcome, records[1].Failure = record.Unsupported, &record.Failure{Kind: contract.Unsupported, Text: "no TLS"}
	records[2].Trial.Arm = "another"
	records[3].Schema = record.Schema + 1
	f := find(t, h, trials, records[:len(records)-2])
	want := cells.Tally{Planned: 48, Valid: 42, Failed: 1, Invalid: 2, Unsupported: 1, Missing: 2, WindowShare: f.Tally.WindowShare}
	if f.Tally != want {
		t.Errorf("tally %+v, want %+v", f.Tally, want)
	}
	if !slices.Contains(reasons(f), "failed: client-1 (ready): peer: connection refused") {
		t.Errorf("reasons %q", reasons(f))
	}
}

func TestUnknownPrimaryIsAnError(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 2, Bare: true})
	h.Study.Compare.Primary = []string{"server.cpu_us_per_exchnge"}
	_, err := finding.Find(h, trials, records)
	if err == nil || !strings.Contains(err.Error(), "did you mean \"server.cpu_us_per_exchange\"?") {
		t.Fatalf("error %v", err)
	}
}

func BenchmarkFind(b *testing.B) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 10, Rate: 20000})
	for b.Loop() {
		if _, err := finding.Find(h, trials, records); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(records)), "µs/trial")
}
