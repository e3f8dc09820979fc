package main

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// progress shows how a run goes: one line, redrawn at most twice a second, on
// a terminal; a plain line for each trial elsewhere. Drawing is load, so it is
// kept small.
type progress struct {
	out   *screen
	total time.Duration // planned, for all trials to run
	bound time.Duration // of a run that ends itself by then; 0 for none
	begun time.Time

	mu     sync.Mutex
	event  bench.Event
	last   map[int]sample // by client
	rate   map[int]float64
	drawn  time.Time
	failed int
	found  string   // so far, after enough blocks
	below  []string // lines under the progress line: the figures of a run that refines them
	loads  bool     // the line counts what was asked and answered, as load generators do
	past   answered // in the trials that have ended
	blocks int      // of the plan, once there is something found
}

type sample struct {
	atNs      int64
	exchanges int64
	errors    int64
}

// answered counts exchanges, warm-ups included.
type answered struct{ exchanges, errors int64 }

const redrawEvery = 500 * time.Millisecond

func newProgress(out *screen, total time.Duration) *progress {
	return &progress{out: out, total: total, begun: time.Now(), last: map[int]sample{}, rate: map[int]float64{}}
}

// observe takes one event of the bench.
func (p *progress) observe(e bench.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Tick != nil:
		now := sample{e.Tick.AtNs, e.Tick.Exchanges, e.Tick.Errors}
		if before, ok := p.last[e.Client]; ok && now.atNs > before.atNs {
			p.rate[e.Client] = float64(now.exchanges-before.exchanges) / float64(now.atNs-before.atNs) * 1e9
		}
		p.last[e.Client] = now
		p.redraw()
	case e.Record != nil:
		p.event, p.past = e, p.answered()
		clear(p.last)
		clear(p.rate)
		p.end(e)
	default:
		p.event = e
		clear(p.last)
		clear(p.rate)
		p.redraw()
	}
}

func (p *progress) redraw() {
	if !p.out.terminal || time.Since(p.drawn) < redrawEvery {
		return
	}
	p.drawn = time.Now()
	rate := 0.0
	for _, r := range p.rate {
		rate += r
	}
	now := ""
	if rate > 0 {
		now = quantity.FormatCount(rate) + "/s"
	}
	line := fmt.Sprintf("%s  %s  %s", p.head(p.event.Index), now, p.left(p.event.Index))
	switch {
	case p.loads:
		line = p.load(now)
	case p.found != "":
		line = fmt.Sprintf("block %d/%d · %s · %s", p.event.Trial.Block, p.blocks, p.left(p.event.Index), p.found)
	}
	p.out.redraw(append([]string{line}, p.below...)...)
}

// load is the line of a run by URL: what matters most first, as a narrow terminal cuts it.
func (p *progress) load(now string) string {
	parts := []string{time.Since(p.begun).Round(time.Second).String(), p.left(p.event.Index)}
	if now != "" {
		parts = append(parts, now+" now")
	}
	so := p.answered()
	parts = append(parts, quantity.FormatCount(float64(so.exchanges))+" requests", quantity.FormatCount(float64(so.errors))+" errors")
	t := p.event.Trial
	return strings.Join(append(parts, fmt.Sprintf("block %d, %s", t.Block, cmp.Or(cells.Spoken(t.Cell), t.Arm))), " · ")
}

// answered is what the trials so far were answered.
func (p *progress) answered() answered {
	so := p.past
	for _, s := range p.last {
		so.exchanges += s.exchanges
		so.errors += s.errors
	}
	return so
}

// show puts figures under the line.
func (p *progress) show(figures []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.out.terminal {
		for _, line := range figures {
			p.out.say("%s", line)
		}
		return
	}
	p.below, p.drawn = figures, time.Time{}
	p.redraw()
}

// finding returns the observer that also shows what was found so far, on a
// terminal.
func (p *progress) finding(s *soFar) func(bench.Event) {
	if !p.out.terminal {
		return p.observe
	}
	blocks := s.blocks.last()
	return func(e bench.Event) {
		p.observe(e)
		found, is := s.after(e, func(block int) bool { return block >= blocksBeforeRatio })
		if text := foundSoFar(found); is && text != "" {
			p.mu.Lock()
			p.found, p.blocks = text, blocks
			p.mu.Unlock()
		}
	}
}

func (p *progress) head(index int) string {
	t := p.event.Trial
	return strings.TrimRight(fmt.Sprintf("[%d/%d] %s %s %s", index+1, p.event.Of, t.ID, t.Arm, cells.Spoken(t.Cell)), " ")
}

// left estimates from what the trials so far took.
func (p *progress) left(done int) string {
	left := p.total - time.Since(p.begun)
	if done > 0 {
		left = time.Since(p.begun) / time.Duration(done) * time.Duration(p.event.Of-done)
	}
	if p.bound > 0 {
		left = min(left, p.bound-time.Since(p.begun))
	}
	if p.failed > 0 {
		return fmt.Sprintf("%s left, %d failed", max(0, left).Round(time.Second), p.failed)
	}
	return fmt.Sprintf("%s left", max(0, left).Round(time.Second))
}

// end reports one trial: a failure always keeps its line.
func (p *progress) end(e bench.Event) {
	if e.Record.Outcome == record.Failed {
		p.failed++
	}
	if e.Record.Failure != nil {
		p.line(fmt.Sprintf("%s  %s", p.head(e.Index), failureText(e.Record)))
		return
	}
	if !p.out.terminal {
		p.line(fmt.Sprintf("%s  %s  %s", p.head(e.Index), headline(e.Record), p.left(e.Index+1)))
	}
}

// line keeps one line of text, whatever breaks somebody's words have.
func (p *progress) line(text string) {
	p.out.clear()
	p.out.say("%s", text)
}

// finish leaves the terminal with a clean line.
func (p *progress) finish() { p.out.clear() }

func failureText(r *record.Record) string {
	f := r.Failure
	where := ""
	if f.Worker != "" {
		where = fmt.Sprintf(" %s in state %s:", f.Worker, f.State)
	}
	return fmt.Sprintf("%s (%s):%s %s", r.Outcome, f.Kind, where, f.Text)
}

// headline is the one figure that says the trial ran.
func headline(r *record.Record) string {
	rate, err := metric.Named(metric.ExchangesPerS)
	if err != nil {
		return ""
	}
	v, ok := rate.Value(r)
	if !ok {
		return "no rate"
	}
	return quantity.FormatCount(v) + "/s"
}
