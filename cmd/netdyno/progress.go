package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
)

// progress shows how a run goes: the trial under way, the share that is done, the time
// that is left, and what was found so far. On a terminal these are lines that are redrawn
// at most twice a second; elsewhere a plain line for each trial, and one whenever the
// findings change. Drawing is load, so it is kept small.
type progress struct {
	out   *screen
	clock *session.Clock
	bound time.Duration // of a run that ends itself by then; 0 for none
	begun time.Time

	mu     sync.Mutex
	event  bench.Event
	last   map[int]sample // by client
	rate   map[int]float64
	drawn  time.Time
	failed int
	found  string   // so far; "" where nothing is
	below  []string // lines under the progress line: the figures of a run that refines them
	loads  bool     // the line counts what was asked and answered, as load generators do
	past   answered // in the trials that have ended
	blocks int      // of the plan
}

type sample struct {
	atNs      int64
	exchanges int64
	errors    int64
}

// answered counts exchanges, warm-ups included.
type answered struct{ exchanges, errors int64 }

const redrawEvery = 500 * time.Millisecond

func newProgress(out *screen, clock *session.Clock, blocks int) *progress {
	return &progress{out: out, clock: clock, blocks: blocks, begun: time.Now(), last: map[int]sample{}, rate: map[int]float64{}}
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
		p.clock.Ended(e.Trial.ID, time.Now())
		clear(p.last)
		clear(p.rate)
		p.end(e)
	default:
		if e.Again != "" {
			p.past = p.answered()
			p.line("again: " + e.Again)
		}
		p.event = e
		p.clock.Began(time.Now())
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
	lines := []string{p.where(now) + " · " + p.left()}
	switch {
	case p.loads:
		lines[0] = p.load(now)
	case p.found != "":
		lines = append(lines, p.found)
	}
	p.out.redraw(append(lines, p.below...)...)
}

// where is how far the run is, and what runs.
func (p *progress) where(now string) string {
	t := p.event.Trial
	place := fmt.Sprintf("block %d of %d", t.Block, p.blocks)
	if t.Probe {
		place = "profiling"
	}
	runs := t.Arm + cells.InCell(t.Cell)
	if t.Unloaded {
		runs = t.Arm + " without load"
	}
	if t.FlatOut {
		place, runs = "before the first block", t.Arm+" flat out"
	}
	if now != "" {
		runs += ": " + now
	}
	return place + " · " + runs
}

// load is the line of a run by URL: what matters most first, as a narrow terminal cuts it.
func (p *progress) load(now string) string {
	parts := []string{time.Since(p.begun).Round(time.Second).String(), p.left()}
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

// finding returns the observer that also shows what was found so far.
func (p *progress) finding(s *soFar) func(bench.Event) {
	return func(e bench.Event) {
		p.observe(e)
		found, is := s.after(e, func(block int) bool { return block >= blocksBeforeRatio })
		if text := found.Answer.SoFar(); is && text != "" {
			p.tell(text)
		}
	}
}

// tell shows what was found, where that is new.
func (p *progress) tell(found string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.out.terminal && found != p.found {
		p.out.say("%s", found)
	}
	p.found = found
}

// ownRate is the factor of its cell's name that a trial's own level is not: such a trial
// stands for all cells that differ only in their rate.
func ownRate(t record.Trial) string {
	if t.FlatOut || t.Unloaded {
		return record.Rate
	}
	return ""
}

func (p *progress) head(index int) string {
	t := p.event.Trial
	text := fmt.Sprintf("[%d/%d] %s %s", index+1, p.event.Of, t.ID, t.Arm)
	if of := cells.SpokenWithout(t.Cell, ownRate(t)); of != "" {
		text += " " + of
	}
	switch {
	case t.Probe:
		text += " (probe)"
	case t.Unloaded:
		text += " (without load)"
	case t.FlatOut:
		text += " (flat out)"
	}
	return text
}

// left says how long the run goes on: to the next look, where it may end, and at most.
func (p *progress) left() string {
	least, most := p.estimated()
	text := rounded(most).String() + " left"
	if near := most - most/10; least < near {
		text = rounded(least).String() + " to " + text
	}
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	return text
}

// remaining is estimated for whoever follows the run; any goroutine may call it.
func (p *progress) remaining() (least, most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.estimated()
}

func (p *progress) estimated() (least, most time.Duration) {
	least, most = p.clock.Left(time.Now())
	if p.bound > 0 {
		bound := max(0, p.bound-time.Since(p.begun))
		least, most = min(least, bound), min(most, bound)
	}
	return least, most
}

// rounded leaves out of a time what no estimate of it knows.
func rounded(d time.Duration) time.Duration {
	switch {
	case d < time.Minute:
		return d.Round(time.Second)
	case d < 10*time.Minute:
		return d.Round(5 * time.Second)
	}
	return d.Round(time.Minute)
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
		p.line(fmt.Sprintf("%s  %s  %s", p.head(e.Index), headline(e.Record), p.left()))
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
	for _, rate := range []struct{ name, of string }{{metric.EventsPerS, " events"}, {metric.ExchangesPerS, ""}} {
		m := metric.Shown(rate.name)
		if v, ok := m.Value(r); ok {
			return quantity.FormatCount(v) + rate.of + "/s"
		}
	}
	return "no rate"
}

// blockCount counts the trials of each block that have no record yet.
type blockCount map[int]int

func countBlocks(left []record.Trial) blockCount {
	c := blockCount{}
	for _, t := range left {
		if !t.Probe && !t.FlatOut {
			c[t.Block]++
		}
	}
	return c
}

// completes tells whether an event is the last record of a block.
func (c blockCount) completes(e bench.Event) bool {
	if e.Record == nil || e.Trial.Probe || e.Trial.FlatOut {
		return false
	}
	c[e.Trial.Block]--
	return c[e.Trial.Block] <= 0
}

// last is the number of the last block.
func (c blockCount) last() int { return slices.Max(append(slices.Collect(maps.Keys(c)), 0)) }

const (
	// blocksBeforeRatio is how many blocks a ratio needs that is shown while a run
	// goes on: the interval of two is as wide as a barn door.
	blocksBeforeRatio = 3
	// readingShare bounds the time that reading the run takes: one part in so many.
	readingShare = 50
)

// soFar reads after a block what the run has found, from the run's own files as the
// report does, for what shows how it goes. It is called between trials.
type soFar struct {
	dir    session.Directory
	blocks blockCount
	again  time.Time // before which reading would take too much of the run's time
}

func newSoFar(dir session.Directory, left []record.Trial) *soFar {
	return &soFar{dir: dir, blocks: countBlocks(left)}
}

// after returns what was found, when an event ends a block that is wanted.
func (s *soFar) after(e bench.Event, wanted func(block int) bool) (found finding.Findings, is bool) {
	if !s.blocks.completes(e) || !wanted(e.Trial.Block) || time.Now().Before(s.again) {
		return found, false
	}
	begun := time.Now()
	r, err := readRun(s.dir)
	s.again = time.Now().Add(readingShare * time.Since(begun))
	return r.Findings, err == nil // the report at the end says what is wrong
}
