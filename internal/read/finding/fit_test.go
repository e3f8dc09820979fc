package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/fit"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const (
	writeBuffer = "opt.server.write_buffer"
	readBuffer  = "opt.server.read_buffer"
	idleRSS     = "server.idle_rss_bytes"
)

// buffers is a study of two buffer sizes over connections, whose memory is
// 9 MB + n·(40 kB + w·write + r·read).
func buffers(w, r float64) synthetic.Options {
	o := synthetic.Options{Bare: true, Connections: []int{1, 100, 1000}, SD: 0.02, Blocks: 8, Rate: 20000}
	for _, write := range []string{"0B", "32KiB", "128KiB"} {
		for _, read := range []string{"0B", "32KiB", "128KiB"} {
			o.Arms = append(o.Arms, synthetic.Arm{
				Name: "w" + write + "-r" + read, Server: "go-grpc", Levels: map[string]string{writeBuffer: write, readBuffer: read},
			})
		}
	}
	number := func(level string) float64 {
		n, err := quantity.ParseBytes(level)
		if err != nil {
			panic(err)
		}
		return float64(n)
	}
	o.Memory = func(levels map[string]string) float64 {
		return 9e6 + number(levels["connections"])*(40e3+w*number(levels[writeBuffer])+r*number(levels[readBuffer]))
	}
	return o
}

// fitted runs a buffers study through Find with one fit.
func fitted(t *testing.T, o synthetic.Options, change func(*record.Header, []record.Trial, []record.Record)) fit.Fit {
	t.Helper()
	h, trials, records := synthetic.Run(o)
	h.Study.Fits = []record.Fit{{Title: "memory", Metric: idleRSS, Per: "connections", Terms: []string{writeBuffer, readBuffer}, Published: []float64{2, 1}}}
	h.Facts.Tools = map[string]record.Binary{"netdyno-worker-net": {Libraries: []contract.Library{
		{Name: "go", Version: "go1.26"}, {Name: "golang.org/x/net", Version: "v0.1.0"}, {Name: "google.golang.org/grpc", Version: "v1.85.0"},
	}}}
	change(&h, trials, records)
	f := find(t, h, trials, records)
	if len(f.Fits) != 1 {
		t.Fatalf("%d fits, want 1", len(f.Fits))
	}
	return f.Fits[0]
}

func asItIs(*record.Header, []record.Trial, []record.Record) {}

func TestFitFindsThePlantedModel(t *testing.T) {
	o := buffers(2, 0.01)
	o.Seed, o.BlockSD = 4, 0.01
	f := fitted(t, o, asItIs)
	if f.Reason != "" || f.Trials != 8*3*10 || f.Blocks != 8 || f.Unit != "B" {
		t.Fatalf("%+v", f)
	}
	for _, c := range []struct {
		got  fit.Coefficient
		of   string
		want float64
	}{{f.Base, "", 9e6}, {f.Per, "connections", 40e3}, {f.Terms[0], writeBuffer, 2}, {f.Terms[1], readBuffer, 0.01}} {
		width := c.got.High - c.got.Low
		if c.got.Of != c.of || math.Abs(c.got.Value-c.want) > width || c.got.Low > c.got.Value || width <= 0 {
			t.Errorf("%+v, planted %v", c.got, c.want)
		}
	}
	if !f.Terms[0].Agrees || f.Terms[1].Agrees || *f.Terms[0].Published != 2 || f.Per.Published != nil {
		t.Errorf("published beside %+v and %+v", f.Terms[0], f.Terms[1])
	}
	if f.Error < 0.005 || f.Error > 0.03 || f.R2 < 0.99 || f.R2 > 1 || math.Abs(f.Worst) > 0.04 || f.WorstAt == "" {
		t.Errorf("error %v, worst %v of %s, R² %v", f.Error, f.Worst, f.WorstAt, f.R2)
	}
	for _, part := range []string{
		"server idle RSS is 8.", " MiB (", "and for each connection 3", " KiB (", ") × opt.server.write_buffer and 0.01",
		"; published 2 (inside the interval) and 1 (outside)", "240 trials in 8 blocks", "go-grpc with google.golang.org/grpc v1.85.0.",
	} {
		if !strings.Contains(f.Sentence, part) {
			t.Errorf("sentence %q does not hold %q", f.Sentence, part)
		}
	}
	if strings.Contains(f.With, "x/net") || strings.Contains(f.With, "go1.26") {
		t.Errorf("with %q: a library that does not carry the exchanges", f.With)
	}
}

// Over many studies the intervals hold the truth as often as they say.
func TestFitIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: dozens of simulated studies")
	}
	const studies = 60
	covered := [3]int{}
	for seed := range studies {
		o := buffers(2, 1)
		o.Seed, o.Blocks, o.Connections = uint64(seed), 6, []int{1, 1000}
		f := fitted(t, o, asItIs)
		for i, c := range []struct {
			got  fit.Coefficient
			want float64
		}{{f.Per, 40e3}, {f.Terms[0], 2}, {f.Terms[1], 1}} {
			if c.got.Low <= c.want && c.want <= c.got.High {
				covered[i]++
			}
		}
	}
	t.Logf("of %d studies the truth was inside %v", studies, covered)
	for i, n := range covered {
		if n < 52 {
			t.Errorf("coefficient %d: covered in %d of %d studies, want about 95 (52 is three standard errors below)", i, n, studies)
		}
	}
}

func TestFitRefusesInWords(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Header, []record.Trial, []record.Record)
		reason string
	}{
		"metric": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Metric = "server.idle_rs_bytes"
		}, `did you mean "server.idle_rss_bytes"?`},
		"factor": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Terms[1] = "opt.server.red_buffer"
		}, `did you mean "opt.server.read_buffer"?`},
		"nowhere": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Where = map[string]string{"connections": "7", "arm": "w0B-r0B"}
		}, "no valid trial at arm=w0B-r0B connections=7"},
		"n is constant": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Where = map[string]string{"connections": "100"}
		}, "connections does not vary: every trial has 100, so its coefficient cannot be seen"},
		"a term is constant": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Where = map[string]string{readBuffer: "32KiB"}
		}, "opt.server.read_buffer does not vary: every trial has 32KiB"},
		"a term is zero": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Where = map[string]string{writeBuffer: "0B"}
		}, "opt.server.write_buffer does not vary: every trial has 0B"},
		"terms move together": {func(_ *record.Header, trials []record.Trial, _ []record.Record) {
			for i := range trials {
				trials[i].Levels[readBuffer] = trials[i].Levels[writeBuffer]
			}
		}, "opt.server.read_buffer varies only together with connections, opt.server.write_buffer"},
		"a word": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Terms[0] = "server"
		}, "is no number"},
		"one block": {func(_ *record.Header, trials []record.Trial, records []record.Record) {
			for i := range trials {
				if trials[i].Block > 1 {
					records[i].Outcome = record.Failed
				}
			}
		}, "blocks that show every coefficient: 1 of 1; at least 2 are needed"},
		"too few trials": {func(h *record.Header, _ []record.Trial, records []record.Record) {
			for i := range records[2:] {
				records[i+2].Outcome = record.Failed
			}
		}, "expected at least as many as coefficients"},
		"too many terms": {func(h *record.Header, _ []record.Trial, _ []record.Record) {
			h.Study.Fits[0].Terms = strings.Split(strings.Repeat("connections,", 17), ",")
		}, "at most 16"},
	} {
		f := fitted(t, buffers(2, 1), c.change)
		if !strings.Contains(f.Reason, c.reason) || f.Sentence != "" || f.Terms != nil {
			t.Errorf("%s: %q, want %q; sentence %q", name, f.Reason, c.reason, f.Sentence)
		}
	}
}

// A block that lost the trials that show a coefficient is left out, the others
// are fitted.
func TestFitLeavesOutBlocksThatShowTooLittle(t *testing.T) {
	f := fitted(t, buffers(2, 1), func(_ *record.Header, trials []record.Trial, records []record.Record) {
		for i := range trials {
			if trials[i].Block == 3 && trials[i].Levels["connections"] != "1" {
				records[i].Outcome, records[i].Failure = record.Failed, &record.Failure{Kind: contract.Peer, Text: "gone"}
			}
		}
	})
	if f.Blocks != 7 || f.Reason != "" || math.Abs(f.Terms[0].Value-2) > 0.1 {
		t.Errorf("%d blocks, %s, %+v", f.Blocks, f.Reason, f.Terms)
	}
}
