package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/fit"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/reach"
	"netdyno/internal/read/trial"
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
	f.Fits = []fit.Fit{sampleFit(), {
		Spec:   record.Fit{Title: "A model that cannot be fitted", Metric: "server.peak_rss_bytes", Per: "connections", Terms: []string{"opt.server.read_buffer"}},
		Unit:   "bytes",
		Reason: "opt.server.read_buffer does not vary over the trials",
	}}
	f.Reaches = []reach.Reach{sampleReach(), {
		Spec:   record.Reach{Title: "A search that finds nothing", Metric: "exchanges_per_s", Share: 0.95, Least: []string{"threads"}},
		Reason: "no valid trial at threads=64",
	}}
	f.Ladders = []ladder.Ladder{sampleLadder(f)}
	for _, c := range f.Cells {
		for i, a := range c.Arms {
			for _, end := range []string{"server", "client"} {
				f.Profiles = append(f.Profiles, sampleProfile(rng, c.Name, a.Name, end))
				f.Flames = append(f.Flames, sampleFlame(i, c.Name, a.Name, end))
			}
		}
	}
	for i, arm := range sampleArms {
		f.Overheads = append(f.Overheads, profile.Overhead{Cell: f.Cells[0].Name, Arm: arm.name, Metric: "exchanges_per_s", Probes: 2, Trials: 6, Ratio: 0.97, Low: 0.95, High: 0.99})
		if i > 0 {
			f.Overheads = append(f.Overheads, profile.Overhead{Cell: f.Cells[0].Name, Arm: arm.name, Metric: "server.cpu_us_per_exchange", Probes: 1, Trials: 6, Ratio: 1.06, Low: 1.06, High: 1.06})
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
		Knee: "The knee is asio at connections=50: largest distance to the chord on normalised log axes (Satopää et al. 2011)",
	}
	for i, cell := range f.Cells {
		for n, a := range cell.Arms {
			tail, _ := summaryOf(a, sampleTail)
			memory, _ := summaryOf(a, "server.peak_rss_bytes")
			c.Marks = append(c.Marks, view.Mark{
				Name: a.Name, Cell: cell.Name, Front: n == 3 && i == 0 || n == 1 && i == 0, Knee: n == 3 && i == 0,
				Metric: tail.Figure, Against: memory.Figure,
			})
		}
	}
	return c
}

func sampleFit() fit.Fit {
	two, one := 2.0, 1.0
	return fit.Fit{
		Spec: record.Fit{
			Title: "Memory per connection", Metric: "server.peak_rss_bytes", Per: "connections",
			Terms: []string{"opt.server.write_buffer", "opt.server.read_buffer"}, Source: "the publication, grpc-go of 2019", Published: []float64{2, 1},
		},
		Unit: "bytes", Trials: 96, Blocks: 6,
		Base: fit.Coefficient{Value: 14.2e6, Low: 13.7e6, High: 14.9e6},
		Per:  fit.Coefficient{Of: "connections", Value: 21_400, Low: 20_800, High: 22_100},
		Terms: []fit.Coefficient{
			{Of: "opt.server.write_buffer", Value: 0.021, Low: -0.004, High: 0.046, Published: &two},
			{Of: "opt.server.read_buffer", Value: 0.98, Low: 0.93, High: 1.04, Published: &one, Agrees: true},
		},
		Error: 0.013, Worst: -0.082, WorstAt: "connections=1000, go-net", R2: 0.9971,
		With: "go-grpc with google.golang.org/grpc v1.85.0",
		Sentence: "server.peak_rss_bytes grows by 0.021 (−0.004–0.046) of the write buffer and 0.98 (0.93–1.04) of the read buffer per connection; " +
			"published 2 and 1; go-grpc with google.golang.org/grpc v1.85.0.",
	}
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

// sampleReach has an arm with two ways, one in doubt, and one with none.
func sampleReach() reach.Reach {
	spot := func(threads, connections string, value, share, low float64) reach.Candidate {
		return reach.Candidate{
			Cell:   "threads=" + threads + " connections=" + connections,
			Levels: []view.Coordinate{{Text: threads}, {Text: connections}},
			Metric: cells.Figure{N: 6, Value: value, Low: 0.98 * value, High: 1.02 * value},
			Share:  share, Low: low, High: 2*share - low, Limit: trial.ServerCPU,
			Value: value, BestValue: value / share, Blocks: 6,
		}
	}
	best := spot("2", "4", 5.2e9, 1, 1)
	return reach.Reach{
		Spec: record.Reach{Title: "Streams that fill it", Metric: "goodput_bytes_per_s", Share: 0.95, Least: []string{"threads", "connections"}},
		Unit: "B/s", Best: best, BestOf: sampleArms[0].name,
		Reached: []reach.Reached{
			{Arm: sampleArms[0].name, Least: []reach.Candidate{spot("1", "16", 5.0e9, 0.961, 0.94), best}, Best: best},
			{Arm: sampleArms[1].name, Best: spot("2", "16", 4.1e9, 0.788, 0.76)},
		},
		Sentence: "The best goodput_bytes_per_s is 5.20 GB/s.",
	}
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
