package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// sampleArm is what one invented arm does: its cost in µs per exchange at 50
// connections and at 10,000, and its response time.
type sampleArm struct {
	name     string
	cost     [2]float64
	p50      float64
	memory   float64 // MB at 50 connections
	managed  bool    // has a garbage collector
	delivery string
}

var sampleArms = []sampleArm{
	{"go-net", [2]float64{9.61, 14.2}, 61, 31, true, "message"},
	{"go-epoll", [2]float64{5.87, 6.31}, 48, 9, true, "message"},
	{"go-epoll-shared", [2]float64{9.55, 8.02}, 70, 27, true, "message"},
	{"asio", [2]float64{4.02, 4.55}, 44, 12, false, "chunks"},
}

var sampleCells = []string{"connections=50", "connections=10000"}

const sampleCost, sampleTail = "server.cpu_us_per_exchange", "response_p99_us"

// sample invents the findings of an event-loops study: realistic shapes, a
// failed trial, an invalid comparison, every section filled. The same blocks
// give the same findings.
func sample(blocks int) finding.Findings {
	rng := rand.New(rand.NewPCG(1, 2))
	f := finding.Findings{
		Run: compare.Run{
			Header: sampleHeader(blocks),
			Tally:  cells.Tally{Planned: 10 * blocks, Valid: 10*blocks - 2, Failed: 1, Invalid: 1, WindowShare: 0.874},
		},
		Seating: []finding.Seated{{Seat: "local", Workers: []string{"server", "client-1"}, CPUs: []string{"0", "1"}}},
		Warnings: []record.Warning{
			{About: "loopback", Text: "Both ends ran on one host: a CPU-bound software path with 64 KiB frames, from which nothing about a network card follows."},
			{About: "delivery", Text: "asio hands over chunks, the other arms whole messages.", Advice: "compare asio with its option delivery=message."},
		},
	}
	for i, name := range sampleCells {
		f.Cells = append(f.Cells, sampleCell(rng, i, name, blocks))
		sampleCompare(rng, &f, i, name)
	}
	f.Cells[1].Arms[2].Trials[1].Flags = []string{"unsteady"}
	for _, c := range f.Comparisons {
		if c.Primary && c.Sentence != "" {
			f.Answers = append(f.Answers, c.Sentence)
		}
	}
	f.Answer = answer.Answer{
		Kind: answer.Use, Sentence: "Use asio: a goroutine per connection needs 2.4 times the server CPU (2.1–2.8).",
		Condition: "Loopback, 2 CPUs, 20 k/s offered; nothing was the limit.",
		Judged:    []string{"Every arm was compared with every other, block by block.", "Of 4 statements: holds 1, does not hold 1, undecided 1, not testable here 1."},
	}
	sampleAsked(&f)
	return f
}

func sampleHeader(blocks int) record.Header {
	return record.Header{
		Schema: record.Schema, Netdyno: "0.1.0", CreatedAt: time.Date(2026, 11, 21, 20, 38, 0, 0, time.UTC),
		Command: []string{"netdyno", "run", "event-loops", "connections=50,10000", fmt.Sprintf("blocks=%d", blocks), "--seed", "42"},
		Study: record.Study{
			Name: "event-loops", Question: "Goroutine per connection, or raw epoll?",
			Hold:    map[string]string{"request": "100B", "response": "100B", "rate": "20k", "window": "5s", "warmup": "1s", "client": "go-epoll"},
			Vary:    []record.Factor{{Name: "arm", Levels: []string{"go-net", "go-epoll", "go-epoll-shared", "asio"}}, {Name: "connections", Levels: []string{"50", "10000"}}},
			Compare: record.Compare{Factor: "arm", Baseline: "go-net", Primary: []string{sampleCost, sampleTail}, Margin: 0.02},
			Blocks:  blocks, Seed: 42,
		},
		Facts: record.Facts{
			Rig: "loopback",
			Seats: map[string]record.Host{"local": {Values: map[string]string{
				"cpu.model": "AMD EPYC 9354P", "cpu.online": "2", "kernel.release": "6.1.0-44-amd64", "clock.source": "kvm-clock", "limit.files": "1048576",
			}}},
			Tools: map[string]record.Binary{"netdyno-worker-net": {
				SHA256: "5f1a0c3b9d2e47768899aabbccddeeff00112233445566778899aabbccddeeff", Version: "0.1.0",
				Libraries: []contract.Library{{Name: "go", Version: "1.26.8"}},
			}},
		},
	}
}

func sampleCell(rng *rand.Rand, i int, name string, blocks int) cells.Cell {
	cell := cells.Cell{Name: name, Levels: map[string]string{"connections": name[len("connections="):]}}
	for n, a := range sampleArms {
		arm := cells.Arm{
			Name: a.name, Baseline: n == 0, Limit: trial.Schedule,
			LimitProof: "b01-" + a.name + ": 20 000/s offered, 19 998/s achieved", Delivery: a.delivery,
			Settings: map[string]string{"server.nodelay": "true", "server.threads": fmt.Sprint(1 + n)},
		}
		for b := range blocks {
			arm.Trials = append(arm.Trials, sampleTrial(rng, a, i, b, false))
			if n == 0 {
				arm.Trials = append(arm.Trials, sampleTrial(rng, a, i, b, true))
			}
		}
		spoilSample(i, n, arm.Trials)
		arm.Metrics = sampleSummaries(arm.Trials)
		p50, _ := arm.Summary("response_p50_us")
		p99, _ := arm.Summary(sampleTail)
		for _, share := range []float64{0, 0.2, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999} {
			// A power of the odds that passes through both percentiles.
			at := 1000 * p50.Value * math.Pow(0.5/(1-share), math.Log(p99.Value/p50.Value)/math.Log(50))
			arm.Service = append(arm.Service, hist.Point{Share: share, Ns: int64(0.8 * at)})
			arm.Response = append(arm.Response, hist.Point{Share: share, Ns: int64(at)})
		}
		cell.Arms = append(cell.Arms, arm)
	}
	return cell
}

// spoilSample makes one trial fail and the books of another not close.
func spoilSample(cell, arm int, trials []trial.Trial) {
	switch {
	case cell == 0 && arm == 3:
		t := &trials[2]
		t.Status, t.Reason = "failed", "server: peer: connection reset by peer"
		t.Values, t.Series, t.CPU = metric.Values{}, nil, nil
	case cell == 1 && arm == 0:
		trials[3].Status = "invalid"
		trials[3].Reason = "the client received 99.1 % of the bytes that its exchanges amount to"
	}
}

// tail scales the response times of an arm in a cell.
func (a sampleArm) tail(cell int) float64 { return a.p50 * (1 + float64(cell)*5) }

func sampleTrial(rng *rand.Rand, a sampleArm, cell, block int, repeat bool) trial.Trial {
	tail := a.tail(cell)
	spread := func(sd float64) float64 { return math.Exp(sd * rng.NormFloat64()) }
	cost := a.cost[cell] * spread(0.02)
	t := trial.Trial{
		ID: fmt.Sprintf("b%02d-%s-%d", block+1, a.name, cell), Block: block + 1, Repeat: repeat, Status: "valid",
		Limit: trial.Schedule,
		Values: metric.ValuesOf(map[string]float64{
			"exchanges_per_s": 20000 * spread(0.001), sampleCost: cost, "client.cpu_us_per_exchange": 5.2 * spread(0.02),
			"response_p50_us": tail * spread(0.03), sampleTail: 6.1 * tail * spread(0.12), "server.peak_rss_bytes": 1e6 * a.memory * spread(0.02) * (1 + float64(cell)*3),
		}),
		CPU: []trial.CPUSplit{
			{Of: "server", Cores: trial.CoresOf(map[string]float64{"user": 0.006 * cost, "system": 0.014 * cost})},
			{Of: "client", Cores: trial.CoresOf(map[string]float64{"user": 0.03, "system": 0.07})},
			{Of: "host", Cores: trial.CoresOf(map[string]float64{"user": 0.05 + 0.006*cost, "system": 0.08 + 0.014*cost, "softirq": 0.06, "irq": 0.01, "steal": 0.01, "idle": 1.7 - 0.02*cost})},
		},
	}
	if a.managed {
		t.Values.Set("server.gc_cpu_share", 0.011*spread(0.2))
		t.Values.Set("server.gc_pause_us_per_s", 130*spread(0.3))
		t.Values.Set("server.alloc_bytes_per_exchange", 2.1*spread(0.1))
	}
	for k := range 31 {
		at := 0.2 * float64(k)
		rate := 20000 * spread(0.015) * min(1, at/0.4)
		t.Series = append(t.Series, trial.Slice{AtS: at, ExchangesPerS: rate, InWindow: at > 0.99})
	}
	return t
}

var sampleMetrics = []cells.Summary{
	{Metric: "exchanges_per_s", Unit: "1/s", Better: "higher"}, {Metric: "response_p50_us", Unit: "us", Better: "lower"},
	{Metric: sampleTail, Unit: "us", Better: "lower"}, {Metric: sampleCost, Unit: "us/exchange", Better: "lower"},
	{Metric: "client.cpu_us_per_exchange", Unit: "us/exchange", Better: "lower"}, {Metric: "server.peak_rss_bytes", Unit: "bytes", Better: "lower"},
	{Metric: "server.gc_cpu_share", Unit: "share", Better: "lower"}, {Metric: "server.gc_pause_us_per_s", Unit: "us/s", Better: "lower"},
	{Metric: "server.alloc_bytes_per_exchange", Unit: "bytes/exchange", Better: "lower"},
}

// sampleBlocks returns the logarithms of an arm's block values.
func sampleBlocks(trials []trial.Trial, metric string) map[int]float64 {
	logs, n := map[int]float64{}, map[int]float64{}
	for _, t := range trials {
		if x, ok := t.Values.Of(metric); ok && t.Status == trial.Valid {
			n[t.Block]++
			logs[t.Block] += (math.Log(x) - logs[t.Block]) / n[t.Block]
		}
	}
	return logs
}

// sampleMean is the geometric mean of block values given by their logarithms, with
// an interval.
func sampleMean(logs map[int]float64) (value, low, high float64) {
	mean, squares, n := 0.0, 0.0, float64(len(logs))
	for _, x := range logs {
		mean += x / n
	}
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	half := 2.57 * math.Sqrt(squares/max(1, n-1)/n)
	return math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)
}

func sampleSummaries(trials []trial.Trial) []cells.Summary {
	var summaries []cells.Summary
	for _, s := range sampleMetrics {
		var values []float64
		for _, t := range trials {
			if v, ok := t.Values.Of(s.Metric); ok && t.Status == trial.Valid {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		logs := sampleBlocks(trials, s.Metric)
		s.N, s.Trials, s.Median = len(logs), len(values), values[len(values)/2]
		s.Value, s.Low, s.High = sampleMean(logs)
		summaries = append(summaries, s)
	}
	return summaries
}

func sampleCompare(rng *rand.Rand, f *finding.Findings, cell int, name string) {
	base := f.Cells[cell].Arms[0]
	for _, metric := range []string{sampleCost, sampleTail, "exchanges_per_s", "client.cpu_us_per_exchange"} {
		sd := 0.02
		if metric == sampleTail {
			sd = 0.12
		}
		primary := metric == sampleCost || metric == sampleTail
		for _, arm := range f.Cells[cell].Arms[1:] {
			c := compare.Comparison{
				Cell: name, Metric: metric, Arm: arm.Name, Base: base.Name, Primary: primary,
				Family: 12, Method: "Holm", Bound: sd,
			}
			over, under := sampleBlocks(arm.Trials, metric), sampleBlocks(base.Trials, metric)
			ratios := map[int]float64{}
			for block := range f.Header.Study.Blocks + 1 {
				x, has := over[block]
				y, both := under[block]
				if !has || !both {
					delete(under, block)
					continue
				}
				ratios[block] = x - y
				c.Ratios, c.In = append(c.Ratios, math.Exp(x-y)), append(c.In, block)
			}
			c.Blocks, c.Partial = len(ratios), len(ratios) < f.Header.Study.Blocks
			c.Ratio, c.Low, c.High = sampleMean(ratios)
			c.Value, _, _ = sampleMean(over)
			c.BaseValue, _, _ = sampleMean(under)
			f.Comparisons = append(f.Comparisons, sampleComparison(c))
		}
		n := compare.Noise{Cell: name, Metric: metric, Ratios: spreadAround(rng, 1+sd/6, sd, f.Header.Study.Blocks), Bound: sd, P: 0.46}
		logs := map[int]float64{}
		for i, r := range n.Ratios {
			logs[i+1], n.In = math.Log(r), append(n.In, i+1)
		}
		n.Ratio, n.Low, n.High = sampleMean(logs)
		f.Noise = append(f.Noise, n)
	}
}

func spreadAround(rng *rand.Rand, center, sd float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = center * math.Exp(sd*rng.NormFloat64())
	}
	return values
}

func sampleComparison(c compare.Comparison) compare.Comparison {
	if !c.Primary {
		c.Verdict, c.Family, c.Method, c.Bound = compare.NotJudged, 0, "", 0
		return c
	}
	c.P, c.Adjusted = 0.0078, 0.047
	switch {
	case c.Arm == "asio" && c.Metric == sampleTail && c.Cell == sampleCells[1]:
		c.Verdict, c.Reason = compare.Invalid, "the trials were overloaded: 97.2 % of the offered rate was achieved"
	case c.High < 1-c.Bound:
		c.Verdict = compare.Better
	case c.Low > 1+c.Bound:
		c.Verdict = compare.Worse
	default:
		c.Verdict, c.P, c.Adjusted, c.NeedsMore = compare.CannotTell, 0.31, 0.62, 22
		c.Reason, c.Decides = "the interval reaches into the bound", "about 22 blocks would decide it: blocks=22 in a new run"
	}
	if c.Verdict != compare.Invalid {
		c.Sentence = fmt.Sprintf("At %s, %s has %s× the %s of %s (95 %% interval %s–%s, %d blocks, A/A bound %.2g %%): %s. Limit: schedule.",
			c.Cell, c.Arm, quantity.FormatFigure(c.Ratio), map[string]string{sampleCost: "server CPU per exchange", sampleTail: "p99 response time"}[c.Metric], c.Base, quantity.FormatFigure(c.Low), quantity.FormatFigure(c.High), c.Blocks, 100*c.Bound, c.Verdict)
	}
	return c
}
