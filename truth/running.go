package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/summary"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

const (
	runningTurns  = 3 // of netdyno and of the other client, one after the other
	runningWindow = 6 * time.Second
	ms            = time.Millisecond
)

// runningCase is a server that runs on, and the load that it gets in a closed loop and, at a
// rate, in an open one.
type runningCase struct {
	name        string
	connections int
	rate        float64 // of the open loop
	anew        func() behaviour
}

// runningCases behave as servers do that nobody starts for a measurement. Where a part is
// slow, no percentile that is shown lies at its edge.
var runningCases = []runningCase{
	{"50 ms", 20, 200, func() behaviour { return steady(50 * ms) }},
	{"1 s", 40, 30, func() behaviour { return steady(time.Second) }},
	{"20 ms, pauses 0.3 of each s", 20, 200, func() behaviour { return pausing(20*ms, 300*ms, time.Second) }},
	{"20 ms, 1 in 20 takes 200 ms", 20, 200, func() behaviour { return bimodal(20*ms, 200*ms, 20) }},
	{"100 ms for 300 requests, then 20 ms", 40, 200, func() behaviour { return warming(20*ms, 100*ms, 300) }},
	{"20 ms, 100/s after a burst of 900", 20, 200, func() behaviour { return quota(20*ms, 100, 900, false) }},
	{"50 ms, 429 above 150/s", 20, 200, func() behaviour { return quota(50*ms, 150, 60, true) }},
	{"50 ms, 10 at a time", 20, 120, func() behaviour { return pool(50*ms, 10) }},
	{"Pareto, 5 ms and more, α 1.5", 20, 200, func() behaviour { return heavyTailed(5*ms, 1.5) }},
}

// steadier are two servers of which p99 tells the second as the better.
var steadier = [2]runningCase{runningCases[2], {"20 ms", 20, 200, func() behaviour { return steady(20 * ms) }}}

// told is what netdyno says of a run, and how long it took to say so.
type told struct {
	finding.Findings
	sum          *summary.Summary
	first, whole time.Duration // to the first figures, to the last
	measuring    time.Duration // from the first trial's start to the last one's end
}

// byURL measures servers as a user does.
func (p *pipeline) byURL(ctx context.Context, servers []*behaving, args ...string) (told, error) {
	typed := append([]string{"--max-errors", "90%"}, args...)
	for _, s := range servers {
		s.begin()
		typed = append(typed, s.URL)
	}
	return p.typed(ctx, typed...)
}

// typed runs netdyno as a user does. Its comparisons are those of findings.json.
func (p *pipeline) typed(ctx context.Context, typed ...string) (t told, err error) {
	dir, err := os.MkdirTemp("", "netdyno-truth-")
	if err != nil {
		return t, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a run of ours in a temporary directory
	run := session.Directory(filepath.Join(dir, "run"))
	typed = append(typed, "--out", string(run))
	begun := time.Now()
	c := exec.CommandContext(ctx, filepath.Join(p.bin, "netdyno"), typed...)
	progress, err := c.StderrPipe()
	if err != nil {
		return t, err
	}
	var said strings.Builder
	if err := c.Start(); err != nil {
		return t, err
	}
	for lines := bufio.NewScanner(io.TeeReader(progress, &said)); lines.Scan(); {
		if t.first == 0 && strings.HasPrefix(lines.Text(), "after 1 block") {
			t.first = time.Since(begun)
		}
	}
	err = c.Wait()
	t.whole = time.Since(begun)
	if err != nil {
		return t, fmt.Errorf("netdyno %s: %w: %s", strings.Join(typed, " "), err, said.String())
	}
	contents, err := record.Read(run.Records())
	if err != nil {
		return t, err
	}
	trials, err := record.ReadTrials(run.Trials())
	if err != nil {
		return t, err
	}
	first, last := contents.Records[0], contents.Records[len(contents.Records)-1]
	t.measuring = last.StartedAt.Sub(first.StartedAt) + time.Duration(last.Timeline.EndNs)
	if t.Findings, err = finding.Find(contents.Header, trials, contents.Records); err != nil {
		return t, err
	}
	t.sum = summary.New(t.Findings)
	text, err := os.ReadFile(run.Findings())
	if err != nil {
		return t, err
	}
	var shown struct{ Comparisons []compare.Comparison }
	err = json.Unmarshal(text, &shown)
	t.Comparisons = shown.Comparisons
	return t, err
}

// lost counts trials that were left out though worker, meter and machine ran.
func (t told) lost() (lost int) {
	for _, v := range t.Trials {
		if v.Trial.Status != trial.Valid && !slices.Contains(v.Trial.Flags, trial.Stalled) {
			lost++
			fmt.Fprintf(os.Stderr, "  %s: %s %v %s\n", v.Trial.ID, v.Trial.Status, v.Trial.Flags, v.Trial.Reason)
		}
	}
	return lost
}

// figures are p50, p90, p99 and the maximum in ms, and the rate; NaN where netdyno shows none.
type figures [5]float64

var figureNames = [...]string{"p50", "p90", "p99", "max", "rate"}

func figuresOf(l summary.Load) figures {
	f := figures{math.NaN(), math.NaN(), math.NaN(), l.MaxUs / 1000, math.NaN()}
	for _, q := range l.Percentiles {
		if i := slices.Index(figureNames[:3], q.Name); i >= 0 {
			f[i] = q.Value / 1000
		}
	}
	if l.Rate != nil && l.Rate.Known {
		f[4] = l.Rate.Value
	}
	return f
}

func (s seen) figures() figures {
	return figures{s.at(0.5), s.at(0.9), s.at(0.99), s.took[len(s.took)-1], s.perS}
}

// held is what came of the runs of one server and loop.
type held struct {
	netdyno, client, planted []figures
	requests                 int64 // the fewest of a run
	lost, planned            int   // trials
	miscounted               int   // requests, by the server's count
	first                    time.Duration

	ratios []string // of a pair's p99
	named  bool     // the second as the better by it
}

// running sets what netdyno says of servers that run on beside what another client sees of
// the same servers, in turns.
func running(ctx context.Context, p *pipeline) ([]answer, error) {
	return p.inLoops(runningCases, func(c runningCase) ([]answer, error) {
		all, err := p.inTurns(ctx, []runningCase{c}, runningTurns)
		if err != nil {
			return nil, err
		}
		return all[0].answers(c), nil
	})
}

// inLoops does something with the closed loop and the open one of each case, both at the
// same time.
func (p *pipeline) inLoops(cases []runningCase, do func(runningCase) ([]answer, error)) ([]answer, error) {
	var all []answer
	for _, c := range cases {
		if !strings.Contains(c.name, p.server) {
			continue
		}
		var (
			got    [2][]answer
			failed [2]error
			both   sync.WaitGroup
		)
		for i, rate := range []float64{0, c.rate} {
			c := c
			c.rate = rate
			both.Go(func() { got[i], failed[i] = do(c) })
		}
		both.Wait()
		all = append(all, slices.Concat(got[:]...)...)
		if err := errors.Join(failed[:]...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// inTurns measures servers of one load with netdyno and with the client, one after the other.
// Of several servers netdyno measures the first twice.
func (p *pipeline) inTurns(ctx context.Context, cases []runningCase, turns int) ([]held, error) {
	all := make([]held, len(cases))
	servers := make([]*behaving, len(cases))
	for i, c := range cases {
		var err error
		if servers[i], err = newBehaving(c.anew); err != nil {
			return nil, err
		}
		all[i].requests = math.MaxInt64
	}
	load, length := cases[0], time.Duration(len(cases))*runningWindow
	if len(cases) > 1 {
		length += runningWindow
	}
	for range turns {
		t, err := p.byURL(ctx, servers, load.typed(length)...)
		if err != nil {
			return nil, err
		}
		had := -int(t.Sent.Requests)
		for i, s := range servers {
			h := &all[i]
			h.netdyno, h.requests = append(h.netdyno, figuresOf(t.sum.Loads[i])), min(h.requests, t.sum.Loads[i].Requests)
			h.planned, h.first = h.planned+t.sum.Totals.Planned/len(cases), max(h.first, t.first)
			had += s.begin()
			// What netdyno has sent before its window counts for the server, so for all.
			c := client{URL: s.URL, connections: load.connections, rate: load.rate, window: runningWindow}
			c.before = int(t.Sent.Probe+t.Sent.Verify+t.Sent.Warmup) / len(cases)
			h.planted = append(h.planted, (&client{connections: c.connections, rate: c.rate, before: c.before, window: c.window}).planted(cases[i].anew()).figures())
			seen, err := c.measure()
			if err != nil {
				return nil, err
			}
			h.client = append(h.client, seen.figures())
		}
		all[0].nameBetter(t)
		all[0].lost += t.lost()
		all[0].miscounted = max(all[0].miscounted, had, -had)
	}
	return all, nil
}

// typed is the load as it is typed.
func (c runningCase) typed(length time.Duration) []string {
	args := []string{"-c", strconv.Itoa(c.connections)}
	if c.rate > 0 {
		args = append(args, "-q", fmt.Sprint(c.rate))
	}
	if length > 0 {
		args = append(args, "-d", length.String())
	}
	return args
}

func (c runningCase) loop() string {
	if c.rate == 0 {
		return c.name + ": closed"
	}
	return c.name + ": open"
}

// answers hold every figure to the client's, or to what was planted where that is nearer: a
// client has costs of its own. What disturbs a run makes its times longer and the rate of a
// closed loop lower, so that the least disturbed run stands for all.
func (h held) answers(c runningCase) []answer {
	var all []answer
	for i, name := range figureNames {
		of, most := slices.Min[[]float64], 0.1
		switch {
		case name == "rate" && c.rate > 0:
			of, most = stat.Median, 0.02
		case name == "rate":
			of, most = slices.Max, 0.02
		}
		netdyno, client, planted := of(column(h.netdyno, i)), of(column(h.client, i)), stat.Median(column(h.planted, i))
		off := min(math.Abs(netdyno/client-1), math.Abs(netdyno/planted-1))
		a := answer{c.loop() + ", " + name, fmt.Sprintf("%.4g; client %.4g, planted %.4g: %.3f", netdyno, client, planted, netdyno/client), fmt.Sprintf("within %g %%", 100*most), off <= most}
		if math.IsNaN(netdyno) && name == "p99" && h.requests < 1000 {
			a.measured, a.asked, a.met = fmt.Sprintf("not shown of %d requests", h.requests), "–", true
		}
		all = append(all, a)
	}
	return append(all,
		answer{c.loop() + ", trials left out though all ran", fmt.Sprintf("%d of %d", h.lost, h.planned), "0", h.lost == 0},
		answer{c.loop() + ", requests that the server counted otherwise", strconv.Itoa(h.miscounted), "0", h.miscounted == 0},
		answer{c.loop() + ", first figures", h.first.Round(100 * ms).String(), "≤ 5 s", h.first > 0 && h.first <= 5*time.Second})
}

func column(all []figures, i int) []float64 {
	return each.Of(all, func(f figures) float64 { return f[i] })
}
