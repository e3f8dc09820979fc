package bench

import (
	"cmp"
	"context"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// keepTurn makes a turn's record, once the clients have told their parts.
func (s *stint) keepTurn(i int, begun, ended edges, beside map[string]int64) error {
	r, in := s.turns[i].of, s.turns[i].in
	lasted := in.to - in.from
	const before = time.Millisecond // 0 is an instant that was not reached
	out := record.Record{
		Schema: record.Schema, Trial: s.trials[i], Outcome: record.OK, Turn: true,
		BesideNs:  beside,
		StartedAt: s.begun.Add(in.from - before).UTC(), Noise: record.Noise{LoadAverage: loadAverage()},
		Timeline: record.Timeline{ReadyNs: int64(before), StartNs: int64(before), OpenNs: int64(before), CloseNs: int64(before + lasted), EndNs: int64(before + lasted)},
	}
	longest := int64(0)
	for _, c := range r.trial.all {
		part, err := c.awaitPart(r.trial.ctx, s.bench.Timeouts.Answer)
		if err != nil {
			out.Outcome, out.Failure = outcome(err)
		}
		c.mu.Lock()
		w := turnOf(c.worker, begun[c], ended[c])
		c.mu.Unlock()
		if part.Part != nil && begun[c] != nil {
			w.Result, w.AtResult = &part.Part.Result, part.Meter
			w.Ticks = c.ticksOf(w.Result)
			taken, err := took(w, r.trial.work.Window)
			if err != nil {
				return err
			}
			longest = max(longest, taken)
			// What came between two turns was due in the one before; between the warm-up of a load
			// alone and its first turn nothing did.
			if first := in.first; first == 0 && len(s.runners) > 1 || first > 0 && !takesPart(s.turnsOf(s.turns[first-1].in), r) {
				w.Result.FromNs = w.Result.ToNs - max(int64(lasted), taken)
			}
			w.Result.Sent = &contract.Sent{Window: endedOf(w.Result.Counts)}
			if i == r.turns[0] {
				w.Result.Sent.Verify, w.Result.Sent.Before = int64(w.Ready.Verified), endedOf(begun[c].Reading.Counts)
			}
		}
		out.Workers = append(out.Workers, w)
	}
	for k := range out.Workers {
		if in.rests { // of all its workers alike, so that a server's cost is of its clients' time
			out.Workers[k].TakenNs = longest
		}
	}
	if i == r.turns[len(r.turns)-1] { // what drains after it is told at the end
		r.last = &out
		return nil
	}
	return s.write(i, &out)
}

// took returns for how many ns a turn's load ran that has others before it: as long as the
// turn was planned, since nothing was due outside. A closed loop's exchanges that were under
// way as the turn ended, or a slice of it, took its slots beyond: there it is as long as the
// slots were taken, so that the rate is not too high by them.
func took(w record.Worker, planned time.Duration) (int64, error) {
	lasts, load := float64(planned), w.Setup.Load
	if load.Rate == 0 && load.ThinkNs == 0 {
		service, err := hist.Decode(w.Result.Service)
		if err != nil {
			return 0, err
		}
		late, err := hist.Decode(w.Result.Late)
		if err != nil {
			return 0, err
		}
		taken := service.MeanNs()*float64(service.Count()) + late.MeanNs()*float64(late.Count())
		lasts = max(lasts, taken/load.Slots())
	}
	return int64(lasts), nil
}

// ticksOf returns the ticks inside a part, and the last before.
func (c *conversation) ticksOf(part *contract.Result) []contract.Tick {
	c.mu.Lock()
	defer c.mu.Unlock()
	after := func(ns int64) int {
		at, _ := slices.BinarySearchFunc(c.worker.Ticks, ns+1, func(t contract.Tick, ns int64) int { return cmp.Compare(t.AtNs, ns) })
		return at
	}
	return slices.Clone(c.worker.Ticks[max(0, after(part.FromNs)-1):after(part.ToNs)])
}

// turnOf returns a worker's part of a turn's record.
func turnOf(w record.Worker, begun, ended *record.Edge) record.Worker {
	w.Open, w.Close, w.Ticks = begun, ended, nil
	return w
}

// drainInto adds to a part of a worker what completed after its end, and what was left unfinished.
func drainInto(w *record.Worker, rest *contract.Result) error {
	part := w.Result
	if rest == nil {
		return nil
	}
	replies := rest.Counts.Exchanges + rest.Drained
	texts := [][2]*string{{&part.Service, &rest.Service}, {&part.Response, &rest.Response}, {&part.Lag, &rest.Lag}, {&part.Late, &rest.Late}}
	if part.Lengths != "" { // else all replies are as long as setup said
		lengths := rest.Lengths
		if _, down, ok := w.Sizes(); ok && lengths == "" && replies > 0 {
			var err error
			if lengths, err = hist.Constant(down, replies).Encode(); err != nil {
				return err
			}
		}
		texts = append(texts, [2]*string{&part.Lengths, &lengths})
	}
	for _, both := range [][2][]contract.ClassResult{{part.Classes, rest.Classes}, {part.Paths, rest.Paths}} {
		for i := range min(len(both[0]), len(both[1])) { // the same ones: a client's names are its load's
			of, late := &both[0][i], &both[1][i]
			of.Drained, of.Unfinished = late.Exchanges+late.Drained, late.Unfinished
			texts = append(texts, [2]*string{&of.Service, &late.Service}, [2]*string{&of.Response, &late.Response})
		}
	}
	for i := range rest.Bins {
		late := &rest.Bins[i]
		at := slices.IndexFunc(part.Bins, func(b contract.SizeBin) bool { return b.FromBytes == late.FromBytes })
		if at < 0 {
			at = len(part.Bins)
			part.Bins = append(part.Bins, contract.SizeBin{FromBytes: late.FromBytes, ToBytes: late.ToBytes})
		}
		of := &part.Bins[at]
		texts = append(texts, [2]*string{&of.Service, &late.Service}, [2]*string{&of.Response, &late.Response}, [2]*string{&of.Behind, &late.Behind}, [2]*string{&of.Free, &late.Free})
	}
	for _, both := range texts {
		if err := mergeInto(both[0], *both[1]); err != nil {
			return err
		}
	}
	part.Drained = replies
	part.Unfinished, part.Ages = rest.Unfinished, rest.Ages
	part.OverMax += rest.OverMax
	return nil
}

// mergeInto adds the values of a histogram to another.
func mergeInto(to *string, more string) error {
	if more == "" {
		return nil
	}
	if *to == "" {
		*to = more
		return nil
	}
	a, err := hist.Decode(*to)
	if err != nil {
		return err
	}
	b, err := hist.Decode(more)
	if err != nil {
		return err
	}
	a.Merge(b)
	*to, err = a.Encode()
	return err
}

// endedOf is how many exchanges ended, completed or failed.
func endedOf(c contract.Counts) int64 {
	n := c.Exchanges
	for _, failed := range c.Errors {
		n += failed
	}
	return n
}

// awaitPart returns what a client says of the part that it was asked for; nothing of a
// worker that is none.
func (c *conversation) awaitPart(ctx context.Context, timeout time.Duration) (contract.Message, error) {
	if c.worker.Role.Serves() {
		return contract.Message{}, nil
	}
	select {
	case m := <-c.parts:
		return m, nil
	case <-ctx.Done():
		return contract.Message{}, context.Cause(ctx)
	case <-time.After(timeout):
		c.late(c, "part", timeout)
		return contract.Message{}, context.Cause(ctx)
	}
}
