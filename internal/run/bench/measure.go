package bench

import (
	"context"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// The ids of the marks.
const (
	openMark  = 1
	closeMark = 2
	idleMark  = 3 // everything is connected and silent
)

// measure runs the load and takes its counts.
func (t *trial) measure(ctx context.Context) error {
	if err := t.mark(ctx, t.all, idleMark); err != nil {
		return err
	}
	if t.work.Load.Amount > 0 {
		return t.measureAmount(ctx)
	}
	if err := t.start(ctx); err != nil {
		return err
	}
	if err := t.warmUp(ctx); err != nil {
		return err
	}
	t.line.OpenNs = t.elapsed()
	if err := t.mark(ctx, t.all, openMark); err != nil {
		return err
	}
	if err := pause(ctx, t.work.Window-time.Duration(t.elapsed()-t.line.OpenNs)); err != nil {
		return err
	}
	t.line.CloseNs = t.elapsed()
	if err := t.mark(ctx, t.all, closeMark); err != nil {
		return err
	}
	return t.results(ctx, t.all, t.stop)
}

// measureAmount runs a fixed amount of work: the window opens before the
// start and closes when every client has sent its own result.
func (t *trial) measureAmount(ctx context.Context) error {
	t.line.OpenNs = t.elapsed()
	if err := t.mark(ctx, t.all, openMark); err != nil {
		return err
	}
	if err := t.start(ctx); err != nil {
		return err
	}
	if err := t.results(ctx, t.clients, nil); err != nil {
		return err
	}
	t.line.CloseNs = t.elapsed()
	if err := t.mark(ctx, t.behindClients(), closeMark); err != nil {
		return err
	}
	return t.results(ctx, t.behindClients(), t.stop)
}

// start lets every client begin.
func (t *trial) start(ctx context.Context) error {
	t.line.StartNs = t.elapsed()
	return t.each(t.clients, func(c *conversation) error {
		c.enter("running")
		if err := c.send(contract.Message{Start: &contract.Start{}}); err != nil {
			return context.Cause(ctx)
		}
		return nil
	})
}

// mark takes a reading of every worker at the same moment.
func (t *trial) mark(ctx context.Context, them []*conversation, id int) error {
	command := contract.Mark{ID: id, Reset: id == openMark}
	return t.each(them, func(c *conversation) error {
		m, edge, err := c.read(ctx, command, t.bench.Timeouts.Answer)
		if err != nil {
			return err
		}
		c.set(func(w *record.Worker) {
			switch id {
			case openMark:
				w.Open = edge
			case closeMark:
				w.Close = edge
			case idleMark:
				w.Idle = edge
			case contract.WarmingMark:
				w.Warming = append(w.Warming, warmingOf(m))
			}
		})
		if id == openMark {
			c.enter("window")
		}
		return nil
	})
}

// read takes a reading of a worker, and returns its answer with that.
func (c *conversation) read(ctx context.Context, mark contract.Mark, timeout time.Duration) (contract.Message, *record.Edge, error) {
	sent := time.Now()
	if err := c.send(contract.Message{Mark: &mark}); err != nil {
		return contract.Message{}, nil, context.Cause(ctx)
	}
	m, err := c.await(ctx, "mark", timeout)
	if err != nil {
		return m, nil, err
	}
	if m.Mark.ID != mark.ID || m.Mark.Reading == nil {
		c.failed(contract.Invalid, "answered a mark without its id or reading (CONTRACT.md, section mark)")
		return m, nil, context.Cause(ctx)
	}
	return m, &record.Edge{Reading: *m.Mark.Reading, Meter: m.Meter, AnswerNs: int64(time.Since(sent))}, nil
}

func (t *trial) stop(c *conversation) error { return c.send(contract.Message{Stop: &contract.Stop{}}) }

// results asks for and files each worker's result; ask is nil for clients that
// send it when their amount is done.
func (t *trial) results(ctx context.Context, from []*conversation, ask func(*conversation) error) error {
	timeout := t.bench.Timeouts.Answer + t.drain()
	if ask == nil {
		timeout = t.bench.Timeouts.Amount
	}
	return t.each(from, func(c *conversation) error {
		if ask != nil {
			if err := ask(c); err != nil {
				return context.Cause(ctx)
			}
		}
		m, err := c.await(ctx, "result", timeout)
		if err != nil {
			return err
		}
		c.enter("done")
		c.set(func(w *record.Worker) { w.Result, w.AtResult = m.Result, m.Meter })
		return nil
	})
}

// pause waits, or returns why the trial ended meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
