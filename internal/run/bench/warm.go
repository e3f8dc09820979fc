package bench

import (
	"context"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/steady"
)

// warmUp lets the load warm up: for the declared time, and where its rate or its costs
// still change then, until they rest or the most time is over (specification §2.1). All
// workers are read at the same moments, whoever they are.
func (t *trial) warmUp(ctx context.Context) error {
	if !t.watched() {
		return pause(ctx, t.work.Warmup-time.Duration(t.elapsed()-t.line.StartNs))
	}
	times := steady.Times{Least: max(t.work.Warmup, steady.Least), Most: t.work.WarmupMost, Proof: t.work.WarmupBound}
	times.Least = min(times.Least, times.Most)
	if err := t.warming(ctx); err != nil {
		return err
	}
	look := time.Duration(0)
	for looks := 1; ; looks++ {
		next, step := times.Next(look)
		if err := t.readUntil(ctx, look, next, step); err != nil {
			return err
		}
		look = next
		ended, over := steady.Of(t.warmed()).Look(times, look, looks)
		if !over {
			continue
		}
		t.warm = &record.WarmUp{Looks: looks, MostNs: int64(times.Most), Steady: ended}
		if looks == 1 { // what shows nothing is not worth a record's room
			for _, c := range t.all {
				c.set(func(w *record.Worker) { w.Warming = nil })
			}
		}
		return nil
	}
}

// watched tells whether a warm-up may go on. A load that has to last as long as it was
// told to, because its rates or its recorded times follow the declared warm-up, or a
// program keeps time by itself, may not.
func (t *trial) watched() bool {
	load := t.work.Load
	switch {
	case t.work.WarmupMost <= t.work.Warmup || t.work.Warmup < steady.Least && !t.work.WarmupBound:
		return false
	case len(load.Phases) > 0 && !load.Repeat, load.Trace != nil:
		return false
	}
	for _, c := range t.clients {
		if c.foreign() {
			return false
		}
	}
	return true
}

// foreign tells whether the worker wraps a program that does not speak the contract.
func (c *conversation) foreign() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worker.Ready != nil && c.worker.Ready.Foreign
}

// readUntil reads every worker, at steps, up to a time after the load's start.
func (t *trial) readUntil(ctx context.Context, from, to, step time.Duration) error {
	for at := from + step; ; at += step {
		if to-at < step/2 {
			at = to
		}
		since := time.Duration(t.elapsed() - t.line.StartNs)
		if at < to && at <= since {
			continue // a busy machine answered late
		}
		if err := pause(ctx, at-since); err != nil {
			return err
		}
		if err := t.warming(ctx); err != nil {
			return err
		}
		if at == to {
			return nil
		}
	}
}

// warming takes a reading of every worker, in which the meters look at little.
func (t *trial) warming(ctx context.Context) error { return t.mark(ctx, t.all, contract.WarmingMark) }

// warmingOf keeps of a reading what tells whether a load has come to rest.
func warmingOf(m contract.Message) record.Warming {
	w := record.Warming{AtNs: m.Mark.Reading.AtNs, Exchanges: m.Mark.Reading.Counts.Exchanges}
	if m.Meter != nil {
		w.MeterNs, w.CPUNs = m.Meter.AtNs, m.Meter.Process.CPUNs
	}
	return w
}

// warmed returns what the workers were read to do so far.
func (t *trial) warmed() []record.Worker {
	workers := make([]record.Worker, len(t.all))
	for i, c := range t.all {
		c.mu.Lock()
		workers[i] = record.Worker{Role: c.worker.Role, Warming: c.worker.Warming}
		c.mu.Unlock()
	}
	return workers
}
