package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/test/limits"
	"netdyno/test/truth"
)

// paced are loads whose rate follows from their times: slots ÷ service time of a closed
// loop, the schedule's of an open one. Few exchanges fit into their windows, and constant
// times keep the slots in step.
var paced = []struct {
	law         string
	service     time.Duration
	connections int
	rate        float64 // 0 for a closed loop
	window      time.Duration
}{
	{"fixed", 400 * time.Millisecond, 10, 0, time.Second},
	{"fixed", 700 * time.Millisecond, 10, 0, time.Second},
	{"fixed", 1200 * time.Millisecond, 10, 0, 1300 * time.Millisecond},
	{"fixed", 2 * time.Second, 1, 0, 5 * time.Second},
	{"fixed", 50 * time.Millisecond, 50, 0, 270 * time.Millisecond},
	{"exponential", 100 * time.Millisecond, 10, 0, 2 * time.Second},
	{"exponential", 20 * time.Millisecond, 50, 0, time.Second},
	{"fixed", 10 * time.Millisecond, 1, 2.4, 2 * time.Second},
	{"fixed", 50 * time.Millisecond, 4, 10.5, time.Second},
	{"exponential", 20 * time.Millisecond, 10, 30.5, time.Second},
}

// rates sets rates beside those that the times and schedules make, which a count of
// completions misses by up to an exchange for each slot and window.
func rates(ctx context.Context, p *pipeline) ([]answer, error) {
	const (
		runs   = 4
		slack  = 0.005 // timers are late
		blocks = "blocks=6"
	)
	held, worst := 0, 0.0
	for _, c := range paced {
		truth := c.rate
		if c.rate == 0 {
			truth = float64(c.connections) / c.service.Seconds()
		}
		for seed := range runs {
			args := []string{
				"transport=null", blocks, fmt.Sprintf("connections=%d", c.connections), fmt.Sprintf("window=%s", c.window), "warmup=500ms", fmt.Sprintf("seed=%d", seed+1),
				fmt.Sprintf("opt.slots=%d", c.connections), fmt.Sprintf("opt.service=%s", c.service), "opt.law=" + c.law,
			}
			if c.rate > 0 {
				args = append(args, fmt.Sprintf("rate=%v", c.rate))
			}
			f, err := p.study(ctx, args...)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", c, err)
			}
			rate, ok := summaryOf(f.Cells, metric.ExchangesPerS)
			if !ok {
				return nil, errors.New("a run of one arm has no rate")
			}
			off := math.Abs(rate.Value/truth - 1)
			worst = max(worst, off)
			if off <= slack || rate.Low <= truth && truth <= rate.High {
				held++
			} else {
				fmt.Fprintf(os.Stderr, "  %+v: %v (%v–%v), truth %v\n", c, rate.Value, rate.Low, rate.High, truth)
			}
		}
	}
	all := runs * len(paced)
	return []answer{{
		fmt.Sprintf("rates of slow servers and schedules that hold the truth (the farthest off by %.2g %%)", 100*worst),
		share(held, all), "≥ 93 %", held*100 >= 93*all,
	}}, nil
}

// summaryOf returns a figure of the first arm that has it.
func summaryOf(all []cells.Cell, metric string) (cells.Summary, bool) {
	for _, cell := range all {
		for _, arm := range cell.Arms {
			for _, s := range arm.Metrics {
				if s.Metric == metric {
					return s, true
				}
			}
		}
	}
	return cells.Summary{}, false
}

// times sets the percentiles that were recorded beside those that a relay
// injected between real clients and servers.
func times(ctx context.Context, p *pipeline) ([]answer, error) {
	const most = 0.02
	errs, err := truth.Measure(ctx, p.bin, truth.Transports...)
	worst := truth.Error{}
	for _, e := range errs {
		fmt.Fprintln(os.Stderr, " ", e)
		if worst.Truth == 0 || math.Abs(e.Share()) > math.Abs(worst.Share()) {
			worst = e
		}
	}
	if len(errs) == 0 {
		return nil, cmp.Or(err, errors.New("nothing was injected"))
	}
	return []answer{{
		fmt.Sprintf("percentiles against injected truth, the worst of %d (%s of %s)", len(errs), worst.Figure, worst.Case),
		fmt.Sprintf("%+.2f %%", 100*worst.Share()), "within 2 %", math.Abs(worst.Share()) <= most,
	}}, err
}

// limited provokes every limit and every plateau and counts those that the
// reader names. It also keeps their trials if p.record names a directory.
func limited(ctx context.Context, p *pipeline) ([]answer, error) {
	named, all := 0, limits.Scenarios()
	for _, s := range all {
		provoke := func() (limits.Named, error) { return s.Provoke(ctx, p.bin) }
		if p.record != "" {
			provoke = func() (limits.Named, error) { return s.Record(ctx, p.bin, p.record) }
		}
		got, err := provoke()
		if err != nil && !errors.Is(err, limits.ErrBusy) {
			return nil, err
		}
		mark := "wrong"
		if err != nil {
			mark = err.Error()
		}
		if got.OK {
			named++
			mark = "right"
		}
		fmt.Fprintf(os.Stderr, "  %s: %s: %s (%s)\n", s.Name, mark, got.Got, got.Proof)
	}
	return []answer{
		{"limits, flags and refusals named in scenarios that provoke them", fmt.Sprintf("%d of %d", named, len(all)), "all", named == len(all)},
	}, nil
}
