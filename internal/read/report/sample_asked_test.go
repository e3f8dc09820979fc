package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// sampleAsked adds what a study may ask for beside its comparisons: a chart
// of every form, fitted models, profiles. The same findings get the same.
func sampleAsked(f *finding.Findings) {
	rng := rand.New(rand.NewPCG(3, 4))
	f.Charts = []view.Chart{
		sampleArmLines(rng), sampleBufferLines(rng), sampleHeat(rng), sampleFront(f),
		{
			Spec:  record.Chart{Title: "Nothing to draw", Kind: record.Lines, Metric: "exchanges_per_s", X: "connections"},
			Notes: []string{"no valid trial has a level of connections"},
		},
	}
	f.Expect = sampleExpected()
	f.Ladders = []ladder.Ladder{{
		Spec: record.Ladder{Title: "From goroutines to C++", Arms: []string{"go-net", "go-epoll", "asio"}, Steps: []record.Step{
			{Title: "an event loop", Changes: []string{"server", "opt.server.instances"}}, {Title: "in C++", Changes: []string{"server"}},
		}},
		Steps: []compare.Comparison{
			{Cell: f.Cells[0].Name, Metric: sampleCost, Arm: "go-epoll", Base: "go-net", Ratio: 0.61, Low: 0.58, High: 0.64, Blocks: 8, Of: 8, Verdict: compare.Better},
			{Cell: f.Cells[0].Name, Metric: sampleCost, Arm: "asio", Base: "go-epoll", Verdict: compare.Invalid, Reason: "at most 1 block has both"},
		},
	}}
	for _, c := range f.Cells {
		for i, a := range c.Arms {
			for _, end := range []string{"server", "client"} {
				f.Profiles = append(f.Profiles, sampleProfile(rng, c.Name, a.Name, end))
				f.Flames = append(f.Flames, sampleFlame(i, c.Name, a.Name, end))
			}
		}
	}
	f.Tally.Probes = 2 * len(f.Cells) * len(sampleArms)
}

func sampleFigure(rng *rand.Rand, value, sd float64) cells.Figure {
	value *= math.Exp(sd * rng.NormFloat64())
	return cells.Figure{N: 6, Value: value, Low: value * math.Exp(-2*sd), High: value * math.Exp(2*sd)}
}

func sampleSize(bytes int) view.Coordinate {
	text := fmt.Sprintf("%dB", bytes)
	if bytes >= 1024 {
		text = fmt.Sprintf("%dKiB", bytes/1024)
	}
	return view.Coordinate{Text: text, Value: float64(bytes)}
}

// sampleArmLines spans decades in both directions.
func sampleArmLines(rng *rand.Rand) view.Chart {
	c := view.Chart{
		Spec: record.Chart{Title: "p99 response time by connections", Kind: record.Lines, Metric: sampleTail, X: "connections", By: "arm"},
		Unit: "us",
	}
	for _, a := range sampleArms {
		line := view.Line{Name: a.name}
		for _, n := range []float64{1, 10, 50, 200, 1000, 10_000} {
			line.Points = append(line.Points, view.Point{
				X:      view.Coordinate{Text: fmt.Sprint(n), Value: n},
				Figure: sampleFigure(rng, a.p50*(2+n/90), 0.05),
			})
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// sampleBufferLines has a level of zero, and a level that one line lacks.
func sampleBufferLines(rng *rand.Rand) view.Chart {
	c := view.Chart{
		Spec: record.Chart{
			Kind: record.Lines, Metric: "exchanges_per_s", X: "opt.server.write_buffer", By: "in_flight",
			Where: map[string]string{"connections": "1", "opt.server.read_buffer": "0B"},
		},
		Unit: "1/s",
	}
	for i, calls := range []float64{1, 10, 100, 1000} {
		line := view.Line{Name: fmt.Sprint(calls)}
		for j, size := range []int{0, 2048, 8192, 32_768, 131_072, 524_288} {
			if i == 3 && j == 5 {
				continue
			}
			line.Points = append(line.Points, view.Point{X: sampleSize(size), Figure: sampleFigure(rng, 9000*(1+0.3*float64(i)+0.06*float64(i*j)), 0.02)})
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

func sampleHeat(rng *rand.Rand) view.Chart {
	c := view.Chart{
		Spec: record.Chart{
			Title: "Rate by both buffers of the server", Kind: record.Heat, Metric: "exchanges_per_s",
			X: "opt.server.write_buffer", Y: "opt.server.read_buffer", Where: map[string]string{"in_flight": "100"},
		},
		Unit: "1/s",
	}
	sizes := []int{0, 2048, 8192, 32_768, 131_072, 524_288, 1_048_576}
	for i, read := range sizes[:5] {
		for j, write := range sizes {
			if i == 2 && j == 4 {
				continue
			}
			c.Tiles = append(c.Tiles, view.Tile{
				X: sampleSize(write), Y: sampleSize(read),
				Figure: sampleFigure(rng, 11_000+900*float64(j)+250*float64(i), 0.01),
			})
		}
	}
	return c
}

// sampleFront reads rate and memory of every arm in every cell from the
// findings, as the reader does.
func sampleFront(f *finding.Findings) view.Chart {
	c := view.Chart{
		Spec: record.Chart{Title: "Tail against memory", Kind: record.Front, Metric: sampleTail, Against: "server.peak_rss_bytes"},
		Unit: "us", AgainstUnit: "bytes",
	}
	for i, cell := range f.Cells {
		for n, a := range cell.Arms {
			tail, _ := a.Summary(sampleTail)
			memory, _ := a.Summary("server.peak_rss_bytes")
			c.Marks = append(c.Marks, view.Mark{
				Name: a.Name, Cell: cell.Name, Front: n == 3 && i == 0 || n == 1 && i == 0,
				Metric: tail.Figure, Against: memory.Figure,
			})
		}
	}
	return c
}

func sampleProfile(rng *rand.Rand, cell, arm, end string) profile.Profile {
	p := profile.Profile{Cell: cell, Arm: arm, End: end, Source: profile.Perf, Probes: 2, Seconds: 7.3}
	if cell == "" || arm == sampleArms[0].name {
		p.File = arm + "-" + end + ".pprof"
	}
	if arm == sampleArms[len(sampleArms)-1].name {
		p.Source = profile.Runtime
	}
	activities := profile.Activities()
	weights := make([]float64, len(activities))
	sum := 0.0
	for i := range weights {
		weights[i] = rng.ExpFloat64()
		sum += weights[i]
	}
	tls := slices.IndexFunc(activities, func(a profile.Activity) bool { return a.Name == "tls" })
	weights[tls], sum = 0, sum-weights[tls] // nobody encrypts here
	for i, activity := range activities {
		p.Shares = append(p.Shares, profile.Share{Activity: activity.Name, Share: weights[i] / sum})
	}
	for i, name := range []string{
		"internal/runtime/syscall.Syscall6", "runtime.memmove", "google.golang.org/grpc/internal/transport.(*http2Client).reader",
		"runtime.mallocgc", "netdyno/internal/work/codec.Encode", "runtime.gcBgMarkWorker",
	} {
		flat := 0.3 / float64(i+1)
		p.Flat = append(p.Flat, profile.Function{Name: name, Flat: flat, Cumulative: 1.4 * flat})
	}
	p.Cumulative = p.Flat
	return p
}

// sampleFlame encodes for half of its time; arms differ in what else they do.
func sampleFlame(number int, cell, arm, end string) profile.Flame {
	more := float64(number)
	place := func(activity string) int {
		return slices.IndexFunc(profile.Activities(), func(a profile.Activity) bool { return a.Name == activity })
	}
	return profile.Flame{Cell: cell, Arm: arm, End: end, Source: profile.Perf, Metric: end + ".cpu_us_per_exchange", Whole: 20 + 2*more, Frames: []profile.Frame{
		{Depth: 0, Name: "net/http.(*conn).serve", Cost: 20 + 2*more, Activity: 1},
		{Depth: 1, Name: "netdyno/internal/work/codec.Encode", Cost: 10 + more, Activity: 1},
		{Depth: 2, Name: "encoding/json.Marshal<script>", Cost: 7 + more, Activity: 1},
		{Depth: 2, Name: "runtime.mallocgc", Cost: 3, Activity: 1},
		{Depth: 1, Name: "syscall.Syscall", Cost: 8 + more, Activity: place("kernel: TCP/IP")},
		{Depth: 1, Cost: 2, Activity: place("library"), Elided: true},
	}}
}

// sampleExpected are a published statement that holds, one that does not, a question that
// is open, and one that nothing here can test.
func sampleExpected() expect.Results {
	const source = "the publication, 48 threads"
	ratio := "go-epoll-shared ÷ go-net at 10000 connections"
	return expect.Results{{
		Spec:  record.Expectation{Title: "Raw epoll costs less", Source: source, That: []string{sampleCost + " of go-epoll-shared < go-net"}},
		State: expect.Holds, Level: 0.05, Under: []string{"loopback, 2 CPUs", "limit: the server's CPUs"},
		Figure: ratio + " 0.612× (0.580–0.641)", Ground: ratio + " 0.612× (0.580–0.641). 95 % interval, 6 blocks. Tested: loopback, 2 CPUs; limit: the server's CPUs.",
		Evidence: []expect.Evidence{
			{What: ratio, Value: 0.612, Low: 0.58, High: 0.641, Interval: 0.05, Measured: "0.612× (0.580–0.641)", Blocks: 6, Of: 6, State: expect.Holds},
		},
	}, {
		Spec:  record.Expectation{Source: source, Note: "187 % CPU against 1632 %", That: []string{sampleCost + " of go-epoll-shared = 0.115 × go-net ± 25 %"}},
		State: expect.DoesNotHold, Level: 0.05, Under: []string{"loopback, 2 CPUs"},
		Figure: ratio + " 0.612× (0.580–0.641); the direction holds, the size does not", Ground: "The direction holds, the size does not.",
		Evidence: []expect.Evidence{
			{What: ratio, Value: 0.612, Low: 0.58, High: 0.641, Interval: 0.05, Measured: "0.612× (0.580–0.641)", Blocks: 6, Of: 6, State: expect.DoesNotHold, Reason: "the direction holds, the size does not"},
		},
	}, {
		Spec:  record.Expectation{Title: "Is asio worth it?", That: []string{"both.cpu_s_per_gb of asio < best(go-net, go-epoll)"}},
		State: expect.Undecided, Level: 0.05, Ground: "Its arms have no figures in a common cell.",
		Evidence: []expect.Evidence{{What: "asio ÷ go-net", Measured: "–", State: expect.Undecided, Reason: "0 blocks have all figures, and at least 6 are needed"}},
	}, {
		Spec:  record.Expectation{Title: "RDMA carries twice as much", Source: source, Unmeasured: "no arm has a card"},
		State: expect.NotTestable, Reason: "no arm has a card", Ground: "no arm has a card.", Level: 0.05,
	}}
}
