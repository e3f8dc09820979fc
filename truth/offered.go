package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/metric"
)

// paired measures two servers in turns, as running does one, and asks which is the better by
// p99.
func paired(ctx context.Context, p *pipeline) ([]answer, error) {
	return p.inLoops(steadier[:1], func(c runningCase) ([]answer, error) {
		cases := []runningCase{c, steadier[1]}
		cases[1].name, cases[1].rate = steadier[1].name+" beside "+c.name, c.rate
		all, err := p.inTurns(ctx, cases, 2)
		if err != nil {
			return nil, err
		}
		return append(append(all[0].answers(c), all[1].answers(cases[1])...), answer{
			c.loop() + " beside " + steadier[1].name + ", p99 ratio", strings.Join(all[0].ratios, "; "), "below 1", all[0].named,
		}), nil
	})
}

// nameBetter notes the ratio of the second server's p99 to the first's.
func (h *held) nameBetter(t told) {
	for _, c := range t.Comparisons {
		if c.Primary && (c.Metric == metric.ResponseP99 || c.Metric == metric.ServiceP99) {
			h.named = (h.named || len(h.ratios) == 0) && c.Ratio > 0 && c.High < 1
			h.ratios = append(h.ratios, fmt.Sprintf("%.3g (%.3g–%.3g) %s", c.Ratio, c.Low, c.High, c.Verdict))
		}
	}
}

// settling lets a run end by itself.
func settling(ctx context.Context, p *pipeline) ([]answer, error) {
	var answers []answer
	for _, others := range [][]runningCase{{}, {steadier[1]}} {
		more, err := p.inLoops(steadier[:1], func(c runningCase) ([]answer, error) {
			var servers []*behaving
			for _, of := range append([]runningCase{c}, others...) {
				s, err := newBehaving(of.anew)
				if err != nil {
					return nil, err
				}
				servers = append(servers, s)
			}
			t, err := p.byURL(ctx, servers, c.typed(0)...)
			if err != nil {
				return nil, err
			}
			what := fmt.Sprintf("%s, %d URL: ", c.loop(), len(servers))
			return []answer{
				{what + "first figures", t.first.Round(100 * ms).String(), "≤ 5 s", t.first > 0 && t.first <= 5*time.Second},
				{what + "settled", t.whole.Round(100 * ms).String(), "≤ 30 s", t.whole <= 30*time.Second},
			}, nil
		})
		if answers = append(answers, more...); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// offered sets the rates of open loops beside what the server counted, from few connections
// to twice as many as requests fall due.
func offered(ctx context.Context, p *pipeline) ([]answer, error) {
	const (
		rate   = 50
		window = 4 * time.Second
	)
	var answers []answer
	for _, share := range []float64{0.1, 0.25, 0.5, 1, 2} {
		var (
			all    [3]answer
			failed [3]error
			runs   sync.WaitGroup
		)
		for i, arrival := range []string{"constant", "poisson", "burst:on=100ms,off=900ms"} {
			runs.Go(func() {
				s, err := newBehaving(func() behaviour { return steady(20 * ms) })
				if err != nil {
					failed[i] = err
					return
				}
				load := runningCase{connections: int(share * rate * window.Seconds()), rate: rate}
				t, err := p.byURL(ctx, []*behaving{s}, append(load.typed(window), "arrival="+arrival)...)
				if err != nil {
					failed[i] = err
					return
				}
				counted := float64(int64(s.begin())-t.Sent.Probe-t.Sent.Verify-t.Sent.Warmup) / t.sum.Totals.WindowS
				shown := figuresOf(t.sum.Loads[0])[4]
				all[i] = answer{
					"arrival=" + arrival + " at 50/s, connections " + strconv.Itoa(load.connections) + ": rate",
					fmt.Sprintf("%.4g; counted %.4g: %.3f", shown, counted, shown/counted), "within 2 %", math.Abs(shown/counted-1) <= 0.02,
				}
			})
		}
		runs.Wait()
		answers = append(answers, all[:]...)
		if err := errors.Join(failed[:]...); err != nil {
			return answers, err
		}
	}
	return answers, nil
}
