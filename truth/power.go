package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/search"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/synthetic"
)

// powered asks whether anything is said that the trials have no power to say: nothing
// carried where windows failed or contradicted each other, hosts alike where their figures
// scatter. Whole runs, from plan to sentence, whose records are made up.
func powered(_ context.Context, _ *pipeline) ([]answer, error) {
	const searches, meshes = 30, 15
	answers, err := searchesWithoutPower(searches)
	if err != nil {
		return answers, err
	}
	more, err := meshesWithoutPower(meshes)
	return append(answers, more...), err
}

// fate is what becomes of a window.
type fate int

const (
	meets fate = iota
	misses
	fails
)

// wavering are servers of which windows tell little or nothing; capacity is what they
// carry, as a share of the closed loop, 0 where that has no answer.
var wavering = []struct {
	what     string
	capacity float64
	window   func(r *rand.Rand, share float64) fate
}{
	{"every window fails", 0, func(*rand.Rand, float64) fate { return fails }},
	{"two of three fail", 0.6, func(r *rand.Rand, share float64) fate {
		if r.IntN(3) > 0 {
			return fails
		}
		return metBelow(r, share, 0.6)
	}},
	{"it fails from half the closed loop on", 0, func(_ *rand.Rand, share float64) fate {
		if share >= 0.5 {
			return fails
		}
		return meets
	}},
	{"two states, a fifth and nine tenths", 0, func(r *rand.Rand, share float64) fate {
		return metBelow(r, share, []float64{0.2, 0.9}[r.IntN(2)])
	}},
	{"one miss in five anywhere", 0, func(r *rand.Rand, share float64) fate {
		if r.IntN(5) == 0 {
			return misses
		}
		return metBelow(r, share, 0.6)
	}},
}

func metBelow(r *rand.Rand, share, capacity float64) fate {
	if share < capacity*(1+0.02*r.NormFloat64()) {
		return meets
	}
	return misses
}

// searchesWithoutPower carries out searches against wavering servers.
func searchesWithoutPower(n int) ([]answer, error) {
	var answers []answer
	for i, server := range wavering {
		nothing, beside, undecided := 0, 0, 0
		for seed := range n {
			f, most, err := madeUpSearch(rand.New(rand.NewPCG(uint64(seed), uint64(i))), server.window)
			if err != nil {
				return answers, fmt.Errorf("%s: %w", server.what, err)
			}
			said := f.Answer.Sentence
			a := f.Search.Arms[0]
			switch {
			case strings.Contains(said, "at no rate"), strings.Contains(said, "no capacity"), a.Fate == search.Nothing:
				nothing++
				fmt.Fprintln(os.Stderr, "power:", server.what+":", said)
			case a.Figure == nil:
				undecided++
			case server.capacity > 0 && (a.Figure.Low > server.capacity*most || a.Fate != search.AtLeast && a.Figure.High < server.capacity*most):
				beside++
			}
		}
		answers = append(answers, answer{
			"capacity, " + server.what + ": said to carry nothing, or beside the truth", fmt.Sprintf("%s; undecided %d", share(nothing+beside, n), undecided),
			"≤ 7 %, nothing 0", nothing == 0 && 100*beside <= 7*n,
		})
	}
	return answers, nil
}

// madeUpSearch is a run of a search whose windows end as they are told to, and the rate of
// its closed loop.
func madeUpSearch(r *rand.Rand, window func(*rand.Rand, float64) fate) (f finding.Findings, most float64, err error) {
	header, trials, err := session.TrialsOf("transport=go-http1", "capacity.objective=response_p99 <= 10ms", "window=1s", "warmup=200ms")
	if err != nil {
		return f, 0, err
	}
	var records []record.Record
	for block := 1; ; block++ {
		s, err := cells.Read(header, record.Allocated(trials, header.Allocations), records)
		if err != nil {
			return f, most, err
		}
		if block == 2 {
			most = s.Trials[0].Trial.Values.At(metric.ExchangesPerS)
		}
		decided, _ := search.Next(s, block)
		header.Allocations = append(header.Allocations, decided)
		if decided.Ended {
			break
		}
		for _, t := range record.Allocated(trials, header.Allocations) {
			if t.Block != block {
				continue
			}
			one, err := windowOf(header.Study, t, func(rate float64) fate { return window(r, rate/most) })
			if err != nil {
				return f, most, err
			}
			records = append(records, one)
		}
	}
	f, err = finding.Find(header, record.Allocated(trials, header.Allocations), records)
	return f, most, err
}

// windowOf makes up the record of a trial: of one that misses the objective, the server
// failed exchanges.
func windowOf(of record.Study, t record.Trial, window func(rate float64) fate) (record.Record, error) {
	_, records, err := synthetic.Planned(of, []record.Trial{t})
	if err != nil {
		return record.Record{}, err
	}
	one := records[0]
	one.Timeline.EndNs = int64(1.4e9)
	var rate float64
	if _, err := fmt.Sscan(t.Levels["rate"], &rate); err != nil { // max
		return one, nil //nolint:nilerr // the closed loop is always carried out
	}
	switch window(rate) {
	case fails:
		return record.Record{
			Schema: one.Schema, Trial: t, Timeline: one.Timeline, Outcome: record.Failed,
			Failure: &record.Failure{Kind: contract.Timeout, Text: "no answer"},
		}, nil
	case misses:
		for i := range one.Workers {
			if w := &one.Workers[i]; w.Role == contract.Client {
				w.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: 40}
			}
		}
	}
	return one, nil
}

// meshesWithoutPower makes up meshes of equal hosts whose latencies scatter by so much.
func meshesWithoutPower(n int) ([]answer, error) {
	const hosts = 6
	var answers []answer
	for _, c := range []struct {
		sd          float64
		asked       string
		least, most int // of n, in how many the hosts are called alike in everything
	}{{1.2, "0", 0, 0}, {0.3, "0", 0, 0}, {0.01, "≥ 9 of 10", n * 9 / 10, n}} {
		alike, open := 0, 0
		for seed := range n {
			f, err := madeUpMesh(rand.New(rand.NewPCG(uint64(seed), 9)), hosts, c.sd)
			if err != nil {
				return answers, err
			}
			if len(f.Mesh.Outliers) > 0 {
				continue
			}
			untold := slices.DeleteFunc(slices.Clone(f.Mesh.Hidden), func(h mesh.Hidden) bool { return f.Mesh.AsGood(h.Hosts) })
			if len(untold) == 0 {
				alike++
			} else if slices.ContainsFunc(untold, func(h mesh.Hidden) bool { return h.Metric == f.Mesh.Latency }) {
				open++
			}
		}
		answers = append(answers, answer{
			fmt.Sprintf("mesh of equal hosts, latency scatters by %g: called as good as each other", c.sd), fmt.Sprintf("%s; cannot be told %d", share(alike, n), open),
			c.asked, alike >= c.least && alike <= c.most && open+alike >= n*8/10, // in 1 of 20 a host is named
		})
	}
	return answers, nil
}

// madeUpMesh is a mesh of equal hosts.
func madeUpMesh(r *rand.Rand, hosts int, sd float64) (f finding.Findings, err error) {
	s, err := source.ParseArgs([]string{"mesh"}, os.ReadFile)
	if err != nil {
		return f, err
	}
	var names []string
	for i := range hosts {
		names = append(names, fmt.Sprintf("node%d", i+1))
	}
	if s, err = s.OnHosts(names); err != nil {
		return f, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return f, err
	}
	timed := study.Summary(s)
	timed.Compare.Primary = []string{metric.ResponseP50} // so that trials have their times
	header, records, err := synthetic.Planned(timed, trials)
	if err != nil {
		return f, err
	}
	header.Study = study.Summary(s)
	for i, one := range records {
		if one.Trial.Levels["stream"] == "up" {
			continue
		}
		each := time.Duration(60e3 * math.Exp(sd*r.NormFloat64()))
		for k := range one.Workers {
			if w := &records[i].Workers[k]; w.Role == contract.Client {
				h, err := hist.Decode(w.Result.Response)
				if err != nil {
					return f, err
				}
				w.Result.Response = synthetic.Histogram(map[time.Duration]int64{each: h.Count()}) // as many, all alike
			}
		}
	}
	return finding.Find(header, trials, records)
}
