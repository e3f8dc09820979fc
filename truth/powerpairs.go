package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
)

// unequalPair are two servers, of which the second is worse in a metric, and what is typed to
// compare them beside their URLs.
type unequalPair struct {
	what     string
	old, new unequal
	arm      string // what the second is called
	metric   string
	within   time.Duration // from the command's start
	args     []string
}

const cpuOfServer = metric.OfServer + metric.CPUPerExchange

// unequalPairs are the pairs on this machine. A request takes 100 µs to compute and 110 in all,
// of which the handicaps are shares; the open loop asks for 30 % of what such a server carries.
func unequalPairs() []unequalPair {
	perUs := iterationsPerUs()
	computes := func(us float64, held time.Duration, percent int) unequal {
		return unequal{iterations: int(perUs * us), held: held, percent: percent}
	}
	const first, soon, later, rate = 8 * time.Second, 15 * time.Second, 30 * time.Second, "2700"
	judged := func(metric string) []string { return []string{"--judge", metric} }
	return []unequalPair{
		{"CPU +5 %", computes(100, 0, 0), computes(105.5, 0, 0), "new", cpuOfServer, soon, nil},
		{"CPU +10 %", computes(100, 0, 0), computes(111, 0, 0), "new", cpuOfServer, first, nil},
		{"rate −5 %", computes(0, ms, 100), computes(0, 1050*time.Microsecond, 100), "new", metric.ExchangesPerS, later, judged(metric.ExchangesPerS)},
		{
			"p99 +10 % at " + rate + "/s", computes(100, 5*ms, 3), computes(100, 5500*time.Microsecond, 3), "new",
			metric.ResponseP99, later, []string{"-q", rate},
		},
	}
}

// judged is the judged comparison of an arm in a metric.
func (t told) judged(arm, metric string) compare.Comparison {
	for _, c := range t.Comparisons {
		if c.Primary && c.Arm == arm && c.Metric == metric {
			return c
		}
	}
	return compare.Comparison{Verdict: compare.CannotTell, Reason: "it was not judged"}
}

// typed compares both servers by their URLs.
func (u unequalPair) typed(ctx context.Context, p *pipeline, urls [2]string) (told, error) {
	return p.typed(ctx, append([]string{urls[0], urls[1], "--name", "old," + u.arm}, u.args...)...)
}

// beside starts both servers, in random order, and hands their URLs on.
func (u unequalPair) beside(ctx context.Context, do func(urls [2]string) error) (err error) {
	var urls [2]string
	for _, i := range rand.Perm(2) {
		url, stop, failed := [2]unequal{u.old, u.new}[i].start(ctx)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, stop()) }()
		urls[i] = url
	}
	return do(urls)
}

// ask makes so many runs. One that fails tells nothing.
func (u unequalPair) ask(ctx context.Context, n int, once func() (told, error)) (runs []told) {
	for len(runs) < n && ctx.Err() == nil {
		r, err := once()
		runs = append(runs, r)
		c := r.judged(u.arm, u.metric)
		fmt.Fprintf(os.Stderr, "  %s: %s after %s of measuring, %s in all %s\n", u.what, c.Verdict, r.measuring.Round(ms), r.whole.Round(ms), c.Reason)
		if err != nil {
			fmt.Fprintln(os.Stderr, " ", err)
		}
	}
	return runs
}

// byURL asks for runs of servers that are started for each.
func (u unequalPair) byURL(ctx context.Context, p *pipeline, n int) []told {
	return u.ask(ctx, n, func() (r told, err error) {
		err = u.beside(ctx, func(urls [2]string) (err error) {
			r, err = u.typed(ctx, p, urls)
			return err
		})
		return r, err
	})
}

// told says how many runs told of a pair what is true, and how soon.
func (u unequalPair) told(runs []told) []answer {
	told, soon, wrong := 0, 0, 0
	var measuring, whole []float64
	for _, r := range runs {
		switch r.judged(u.arm, u.metric).Verdict {
		case compare.Worse:
			told++
			soon += oneIf(r.whole <= u.within)
			measuring, whole = append(measuring, r.measuring.Seconds()), append(whole, r.whole.Seconds())
		case compare.Better, compare.Equivalent:
			wrong++
		}
	}
	return []answer{
		{fmt.Sprintf("%s told within %g s", u.what, u.within.Seconds()), share(soon, len(runs)), "≥ 80 %", 10*soon >= 8*len(runs)},
		{"  told at all; half of these after s of measuring, of the command", fmt.Sprintf("%d; %.1f, %.1f", told, stat.Median(measuring), stat.Median(whole)), "–", true},
		{"  said to be better, or as good", fmt.Sprint(wrong), "0", wrong == 0},
	}
}

// powerPairs asks how soon a planted difference between two servers is told by URL, and between
// arms in processes of their own, and how often servers that are the same are called different.
func powerPairs(ctx context.Context, p *pipeline) (answers []answer, err error) {
	wrong, all, some := 0, 0, (2*p.runs+2)/3
	for i, pair := range unequalPairs() {
		answers = append(answers, pair.told(pair.byURL(ctx, p, p.runs))...)
		if i == 0 {
			continue // the next pair's first server is the same
		}
		pair.what, pair.new = pair.what+", but the same", pair.old
		for _, r := range pair.byURL(ctx, p, some) {
			wrong, all = wrong+oneIf(different(r.Findings)), all+oneIf(len(r.Comparisons) > 0)
		}
	}
	low, _ := stat.Proportion(wrong, all)
	answers = append(answers, answer{"servers that are the same, called different", share(wrong, all), "from ≤ 5 %", all > 0 && low <= 0.05})
	lab := unequalPair{what: "CPU +5 % of arms in processes of their own", arm: "105.5µs", metric: cpuOfServer, within: 40 * time.Second}
	return append(answers, lab.told(lab.ask(ctx, (p.runs+2)/3, func() (told, error) {
		return p.typed(ctx, "run", "transport=go-net", "connections=10", "work=100µs,"+lab.arm, "compare.primary="+lab.metric)
	}))...), nil
}
