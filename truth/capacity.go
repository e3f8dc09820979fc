package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/search"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// servers are those whose capacity is known: of M/M/1 the response time is exponential
// with rate μ − λ, so its p99 is at most T up to λ = μ − ln(100)/T; D/D/c is full at c/s.
var servers = []struct {
	what     string
	queue    synthetic.Queue
	allowed  float64 // p99, in seconds
	capacity float64
	live     int // runs on this machine
}{
	{"M/M/1, 0.125 ms, p99 ≤ 6 ms", synthetic.Queue{Servers: 1, Service: 1.25e-4, Exponential: true, Poisson: true}, 0.006, 8000 - math.Log(100)/0.006, 6},
	{"D/D/2, 1 ms, p99 ≤ 20 ms", synthetic.Queue{Servers: 2, Service: 1e-3}, 0.020, 2000, 6},
}

// carried asks in how many searches the interval holds the known capacity: of the very
// procedure against simulated queues, and of whole runs against transport null.
func carried(ctx context.Context, p *pipeline) ([]answer, error) {
	const simulated = 500 // of each server
	var answers []answer
	in, narrow := 0, 0
	for i, s := range servers {
		for seed := range uint64(simulated) {
			if ctx.Err() != nil {
				return answers, context.Cause(ctx)
			}
			found, why := simulatedSearch(seed+uint64(i)<<32, s.queue, s.allowed)
			if why == "" && found.Low <= s.capacity && s.capacity <= found.High {
				in++
			}
			if why == "" && found.High-found.Low <= 0.1*found.Value {
				narrow++
			}
		}
	}
	all := simulated * len(servers)
	answers = append(answers,
		answer{"simulated searches (M/M/1, D/D/2) whose interval holds the capacity", share(in, all), "≥ 93 %", in*100 >= 93*all},
		answer{"  of these at most 10 % wide within 60 s", share(narrow, all), "–", true})
	for _, s := range servers {
		in, seconds := 0, 0.0
		for seed := range s.live {
			a, err := p.search(ctx, seed+1, s.queue, s.allowed)
			if err != nil {
				return answers, fmt.Errorf("%s: %w", s.what, err)
			}
			for _, try := range a.Tries {
				seconds += try.Seconds / float64(s.live)
			}
			if a.Figure != nil && a.Figure.Low <= s.capacity && s.capacity <= a.Figure.High {
				in++
			} else {
				fmt.Fprintf(os.Stderr, "  %s carries %.0f/s; found %+v %s\n", s.what, s.capacity, a.Figure, a.Why)
			}
		}
		answers = append(answers, answer{s.what + ": runs whose interval holds it", fmt.Sprintf("%s, %.0f s each", share(in, s.live), seconds), "all but one", in >= s.live-1})
	}
	return answers, nil
}

// simulatedSearch carries a search out against a queue.
func simulatedSearch(seed uint64, q synthetic.Queue, allowed float64) (search.Estimate, string) {
	const starting = 0.15 // seconds that a trial takes besides its load
	random := rand.New(rand.NewPCG(seed, 2))
	s := search.RateSearch{
		Spec: record.Capacity{Objective: []record.Bound{{Metric: metric.ResponseP99, Value: allowed * 1e6}}, Within: 0.1, TimeS: 60},
		Most: float64(q.Servers) / q.Service, Window: time.Second, Warmup: 200 * time.Millisecond,
	}
	for {
		step, why := s.Next()
		if why != "" {
			return s.Found()
		}
		warmup, window := step.Warmup.Seconds(), step.Window.Seconds()
		times := q.Responses(random, step.Rate, warmup, window)
		s.Add(search.Try{
			Rate: step.Rate, Window: window, Seconds: warmup + window + starting,
			Met: len(times) > 0 && stat.Quantile(times, 0.99) <= allowed,
		})
	}
}

// search runs a search against transport null, which pretends such a server.
func (p *pipeline) search(ctx context.Context, seed int, q synthetic.Queue, allowed float64) (search.Arm, error) {
	args := []string{
		"transport=null", "connections=200", "threads=1", "window=1s", "warmup=200ms", fmt.Sprintf("seed=%d", seed),
		fmt.Sprintf("opt.slots=%d", q.Servers), fmt.Sprintf("opt.service=%s", time.Duration(q.Service*1e9)),
		fmt.Sprintf("capacity.objective=response_p99 <= %gms", allowed*1000),
	}
	if q.Poisson {
		args = append(args, "arrival=poisson")
	}
	if q.Exponential {
		args = append(args, "opt.law=exponential")
	}
	header, trials, records, err := p.steered(ctx, search.Next, args...)
	if err != nil {
		return search.Arm{}, err
	}
	f, err := finding.Find(header, trials, records)
	if err != nil || f.Search == nil || len(f.Search.Arms) != 1 {
		return search.Arm{}, fmt.Errorf("a search left no capacity: %w", err)
	}
	return f.Search.Arms[0], nil
}
