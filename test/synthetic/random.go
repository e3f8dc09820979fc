package synthetic

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// pauses is a metric that Random makes 0 in some trials.
const pauses = metric.OfServer + metric.GCPauses

// Random returns a study of a random shape in which much went wrong: of one arm
// or several, of one block or several, with trials that left no record, failed,
// or whose books do not close, arms without a single figure, figures of 0. The
// same seed gives the same study; every fourth has histograms.
func Random(seed uint64) (record.Header, []record.Trial, []record.Record) {
	rng := rand.New(rand.NewPCG(seed, 0x72616e64))
	o := Options{
		Arms: []Arm{
			{Name: "go-net"}, {Name: "go-epoll", Cost: 0.61, Speed: 1.2}, {Name: "asio", Cost: 0.55, Speed: 1.3}, {Name: "uring", Cost: 0.9},
		}[:1+rng.IntN(4)],
		Connections: []int{50, 1000}[:1+rng.IntN(2)],
		Blocks:      1 + rng.IntN(8),
		Seed:        seed,
		Bare:        seed%4 != 0, // histograms are most of the work
		Rate:        []float64{0, 20_000}[rng.IntN(2)],
		SD:          []float64{0, 0.02, 0.4}[rng.IntN(3)],
		BlockSD:     []float64{0, 0.1, 0.5}[rng.IntN(3)],
	}
	if rng.IntN(3) == 0 {
		o.Primary = []string{metric.OfServer + metric.CPUPerExchange, pauses}
	}
	header, trials, records := Run(o)
	header.Study.Charts = []record.Chart{
		{Kind: record.Lines, Metric: metric.ExchangesPerS, X: "connections", By: "arm"},
		{Kind: record.Front, Metric: metric.ExchangesPerS, Against: metric.OfServer + metric.CPUPerExchange},
		{Kind: record.Lines, Metric: pauses, X: "connections", By: "arm"},
	}
	header.Study.Expect = []record.Expectation{{Title: "With how little?", That: []string{"least connections with exchanges_per_s >= 90 % of best"}}}
	header.Study.Costs = []record.Cost{{
		Title: "CPU", Metric: metric.OfServer + metric.CPUPerExchange, Terms: []string{"connections"}, Holdout: map[string][]string{"connections": {strconv.Itoa(o.Connections[0])}},
	}}
	if len(o.Arms) > 2 {
		header.Study.Compare.Also = []record.Pair{{Arm: o.Arms[2].Name, Base: o.Arms[1].Name}}
		header.Study.Expect = append(header.Study.Expect, record.Expectation{Source: "they", That: []string{"both.cpu_s_per_gb of best(" + o.Arms[2].Name + ") < best(go-net, go-epoll)"}})
		header.Study.Ladders = []record.Ladder{{Arms: header.Study.Vary[0].Levels, Steps: make([]record.Step, len(o.Arms)-1)}}
	}
	dead := o.Arms[rng.IntN(len(o.Arms))].Name // of which little or nothing works
	deadliness, illness, stillness := 0.0, []float64{0, 0.1, 0.4}[rng.IntN(3)], []float64{0, 0.2, 1}[rng.IntN(3)]
	if rng.IntN(4) == 0 {
		deadliness = 0.5 + rng.Float64()
	}
	var left []record.Record
	for _, r := range records {
		switch ill := rng.Float64() < illness || r.Trial.Arm == dead && rng.Float64() < deadliness; {
		case !ill:
		case rng.IntN(3) == 0:
			continue
		case rng.IntN(2) == 0:
			r.Outcome = record.Failed
		default:
			r.Workers[len(r.Workers)-1].Result.Counts.ReceivedBytes /= 2
		}
		if rng.Float64() < stillness {
			still(&r)
		}
		left = append(left, r)
	}
	return header, trials, slices.Clip(left)
}

// still takes the pauses out of a trial.
func still(r *record.Record) {
	for _, w := range r.Workers {
		if w.Open.Reading.Runtime != nil {
			w.Close.Reading.Runtime.GCPauseNs = w.Open.Reading.Runtime.GCPauseNs
		}
	}
}
