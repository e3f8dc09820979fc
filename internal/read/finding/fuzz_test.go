package finding_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"netdyno/internal/read/expect"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// run is a whole run as one JSON value.
type run struct {
	Header  record.Header   `json:"header"`
	Trials  []record.Trial  `json:"trials"`
	Records []record.Record `json:"records"`
}

// rubbish is what a garbled file may hold in place of a value, made anew each
// time because it may be spoilt further.
func rubbish(rng *rand.Rand) any {
	all := []any{
		nil, 0.0, -1.0, 1.0, 1e-300, 9.2e18, -9.2e18, 3e18, "", "nonsense", "go-net", "client", "pair", true,
		map[string]any{}, []any{}, []any{nil}, []any{map[string]any{}},
	}
	return all[rng.IntN(len(all))]
}

// spoil replaces values at random places of a JSON tree, drops members, and
// repeats list elements.
func spoil(rng *rand.Rand, node any) any {
	switch n := node.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(n))
		if len(keys) == 0 {
			return n
		}
		key := keys[rng.IntN(len(keys))]
		if rng.IntN(12) == 0 {
			delete(n, key)
			return n
		}
		n[key] = spoil(rng, n[key])
		return n
	case []any:
		if len(n) == 0 {
			return n
		}
		i := rng.IntN(len(n))
		switch rng.IntN(12) {
		case 0:
			return append(n, n[i])
		case 1:
			return append(n[:i:i], n[i+1:]...)
		}
		n[i] = spoil(rng, n[i])
		return n
	}
	return rubbish(rng)
}

// FuzzFind spoils a good run: Find must neither panic nor say anything that
// is not a number, and its counters must agree.
func FuzzFind(f *testing.F) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Blocks: 2, Connections: []int{50, 100}, Rate: 20000, Clients: 2, SD: 0.01,
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll", Cost: 0.61}}, Probes: stacks,
	})
	h.Study.Charts = []record.Chart{
		{Kind: record.Lines, Metric: serverCPU, X: "connections", By: "arm"},
		{Kind: record.Heat, Metric: idleRSS, X: "connections", Y: "server", Where: map[string]string{"request": "100B"}},
		{Kind: record.Front, Metric: "exchanges_per_s", Against: idleRSS},
	}
	h.Study.Expect = []record.Expectation{
		{Title: "faster", That: []string{"exchanges_per_s of go-epoll > go-net", "response_p99_us of go-epoll = 0.9 × go-net ± 20 % at connections=50 against connections=100"}},
		{That: []string{"server.cores per request = 1 × response", "least connections with exchanges_per_s >= 95 % of best", "both.cores of best(go-net) < best(go-epoll)"}},
	}
	good, err := json.Marshal(run{h, trials, records})
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(100) {
		f.Add(seed, uint8(1+seed%40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		var tree any
		if err := json.Unmarshal(good, &tree); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range changes {
			tree = spoil(rng, tree)
		}
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		var r run
		// Members of the wrong type are skipped, the rest is kept: a harder
		// input than a file that is refused as a whole.
		_ = json.Unmarshal(text, &r)
		found, err := finding.Find(r.Header, r.Trials, r.Records)
		if err != nil {
			return
		}
		if _, err := json.Marshal(found); err != nil {
			t.Fatalf("findings cannot be written: %v", err)
		}
		y := found.Tally
		if y.Valid+y.Failed+y.Invalid+y.Unsupported+y.Missing != y.Planned || y.WindowShare < 0 || y.WindowShare > 1 {
			t.Fatalf("tally %+v does not add up", y)
		}
		checkAsked(t, r.Header.Study, found)
		for _, c := range found.Comparisons {
			if c.P < 0 || c.P > c.Adjusted || c.Adjusted > 1 || c.Blocks >= 2 && (c.Low > c.Ratio || c.Ratio > c.High || c.Low <= 0) {
				t.Fatalf("comparison %+v", c)
			}
		}
	})
}

// checkAsked demands that what a study asks for is answered or refused in words.
func checkAsked(t *testing.T, study record.Study, found finding.Findings) {
	t.Helper()
	if len(found.Charts) != len(study.Charts) || len(found.Expect) != len(study.Expect) {
		t.Fatalf("%d charts of %d, %d statements of %d", len(found.Charts), len(study.Charts), len(found.Expect), len(study.Expect))
	}
	for _, c := range found.Charts {
		if len(c.Lines)+len(c.Tiles)+len(c.Marks)+len(c.Notes) == 0 {
			t.Fatalf("chart %+v is empty without a word", c)
		}
		for _, line := range c.Lines {
			for _, p := range line.Points {
				if p.N < 1 || p.Low > p.Value || p.Value > p.High {
					t.Fatalf("point %+v", p)
				}
			}
		}
	}
	for _, r := range found.Expect {
		if r.State == "" || (r.State == expect.NotTestable) == (r.Reason == "") {
			t.Fatalf("statement %+v", r)
		}
	}
}
