package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// A stint measures servers that run on by one continuous load for each arm in each cell:
// workers start once, connections open once, and the trials of the plan are turns of these
// loads on the wall clock, which never wait for an answer. So no pause of a server hides
// between two trials. Each turn leaves its trial's record, with the counts and times of the
// load between the turn's edges.
type stint struct {
	bench   *Bench
	runners []*runner // in the order of their first turns
	turns   []turn
	trials  []record.Trial // by turn
	begun   time.Time      // when the loads were started
	markID  atomic.Int64   // of the latest mark: all are different

	kept    chan func() error // what the keeper is to do, in order
	stopped chan struct{}     // closed when what was measured settles the run
	ended   int               // the last block that is kept, where it was settled; else 0
}

// runner is the load of an arm in a cell.
type runner struct {
	trial  *trial
	plan   record.Trial // of its first turn
	turns  []int        // of the stint's
	failed error        // why it cannot go on
	opened bool         // its window was
	begun  bool         // so has its turn, with the readings of edges
	edges  map[*conversation]*record.Edge
	last   *record.Record // of its last turn, which what drains is added to
	told   int64          // requests that its records have
}

// turn is a trial's time, since the loads' start.
type turn struct {
	of       *runner
	from, to time.Duration
}

// firstTurnMark is behind the ids that stand for something.
const firstTurnMark = 100

// afterAll is when a client's last turn begins, in which nothing is due any more: a client
// without turns left would let its slots go.
const afterAll = 1000 * time.Hour

// mostRunners bounds the loads that stand at the same time.
const mostRunners = 32

// TakesTurns tells whether trials can be turns of loads that go on: those whose server
// stands by itself, and whose clients take turns. enter makes a trial's work that of its workload.
// Recorded traffic takes none: each of its trials begins at another moment of the recording, at
// the rate that was recorded there.
func (c *Catalog) TakesTurns(trials []record.Trial, enter func(study.Work, uint64) (study.Work, error)) bool {
	seen := map[[2]string]bool{}
	for _, t := range trials {
		key := [2]string{t.Arm, t.Cell}
		if t.Probe || t.Unloaded || t.FlatOut || t.Round > 0 {
			return false
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		work, err := study.Decode(t.Levels)
		if err == nil && work.Workload+work.Times != "" {
			work, err = enter(work, t.Seed)
		}
		needs := []contract.Feature{contract.FeatureTurns}
		if len(work.Load.Classes) > 0 || work.Exchange.Varies() {
			needs = append(needs, contract.FeatureMixedTurns)
		}
		switch {
		case err != nil || len(seen) > mostRunners, work.ServerOptions["address"] == "" && work.ServerOptions["socket"] == "":
			return false
		case work.Load.Amount > 0, work.Window <= 0, work.Load.Trace != nil:
			return false
		case len(work.Load.Phases) > 0 && !work.Load.Repeat, work.RateShare > 0, work.Path.Given, work.Link != (record.Link{}):
			return false
		}
		_, client, _, err := c.meet(work)
		lacks := func(f contract.Feature) bool { return !slices.Contains(client.Features, f) }
		if err != nil || slices.ContainsFunc(needs, lacks) {
			return false
		}
	}
	return len(seen) > 0
}

// stint carries out trials as turns of continuous loads.
func (b *Bench) stint(ctx context.Context, trials []record.Trial) error {
	s := &stint{bench: b, trials: trials, kept: make(chan func() error, len(trials)+1), stopped: make(chan struct{})}
	s.markID.Store(firstTurnMark)
	if err := s.layOut(ctx); err != nil {
		return err
	}
	defer s.close()
	s.setUp(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	keeper := make(chan error, 1)
	go func() { keeper <- s.keep() }()
	s.conduct(ctx)
	if ctx.Err() == nil {
		s.finish(ctx)
	}
	close(s.kept)
	if err := <-keeper; err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// layOut gives every trial its turn: first each load warms up in a turn of its own, then the
// trials follow each other as they are planned.
func (s *stint) layOut(ctx context.Context) error {
	of := map[[2]string]*runner{}
	at := time.Duration(0)
	spans := map[*runner][][2]int64{}
	add := func(r *runner, length time.Duration) {
		all := spans[r]
		if n := len(all); n > 0 && all[n-1][1] == int64(at) {
			all[n-1][1] += int64(length)
		} else {
			all = append(all, [2]int64{int64(at), int64(at + length)})
		}
		spans[r] = all
		at += length
	}
	for _, plan := range s.trials {
		key := [2]string{plan.Arm, plan.Cell}
		if of[key] != nil {
			continue
		}
		r := &runner{trial: s.bench.newTrial(ctx, plan, &round{plans: []record.Trial{plan}, shown: plan.ID}), plan: plan}
		of[key], s.runners = r, append(s.runners, r)
		if err := r.trial.place(r.trial.ctx); err != nil {
			r.failed = err
			continue
		}
		if r.trial.work.Warmup > 0 {
			add(r, r.trial.work.Warmup)
		}
	}
	for i, plan := range s.trials {
		r := of[[2]string{plan.Arm, plan.Cell}]
		from := at
		add(r, r.trial.work.Window)
		s.turns = append(s.turns, turn{r, from, at})
		r.turns = append(r.turns, i)
	}
	for r, all := range spans {
		const most = 4000
		if len(all) > most {
			return fmt.Errorf("%d turns of %s: expected at most %d; give longer windows or fewer blocks", len(all), r.plan.Arm, most)
		}
		r.trial.turns = append(all, [2]int64{int64(afterAll), int64(2 * afterAll)})
	}
	return nil
}

// setUp starts the workers of every load and has its connections made, of few connections
// first: a server that has room for those alone shall serve them.
func (s *stint) setUp(ctx context.Context) {
	order := slices.Clone(s.runners)
	slices.SortStableFunc(order, func(a, b *runner) int {
		return cmp.Compare(a.trial.work.Load.Connections, b.trial.work.Load.Connections)
	})
	rigged := s.bench.prepare(ctx, s.trials[0])
	for _, r := range order {
		t := r.trial
		t.begun, t.round.rig = time.Now(), rigged
		for _, step := range []func(context.Context) error{
			t.prepared, t.launch,
			func(ctx context.Context) error {
				return t.each(t.all, func(c *conversation) error { return t.awaitHello(ctx, c) })
			},
			t.setUp,
			func(ctx context.Context) error { return t.mark(ctx, t.all, idleMark) },
		} {
			if r.failed == nil {
				r.failed = cmp.Or(step(t.ctx), context.Cause(t.ctx))
			}
		}
	}
}

// conduct starts the loads and takes the readings at the edges of their turns.
func (s *stint) conduct(ctx context.Context) {
	s.begun = time.Now()
	var starting sync.WaitGroup
	for _, r := range s.runners {
		starting.Go(func() {
			if r.failed == nil {
				r.trial.begun = s.begun
				r.failed = r.trial.start(r.trial.ctx)
			}
		})
	}
	starting.Wait()
	for i, turn := range s.turns {
		s.bench.tell(Event{Trial: s.trials[i], Index: i, Of: len(s.turns)})
		if turn.of.failed != nil {
			s.fail(i)
			continue
		}
		if !turn.of.begun {
			if !s.until(ctx, turn.from) {
				return
			}
			s.open(turn.of)
		}
		if !s.until(ctx, turn.to) {
			return
		}
		var edges sync.WaitGroup
		if next := i + 1; next < len(s.turns) && s.turns[next].of != turn.of {
			edges.Go(func() { s.open(s.turns[next].of) })
		}
		edges.Go(func() { s.shut(i) })
		edges.Wait()
	}
}

// until waits for an instant since the loads' start; false when the run ends before.
func (s *stint) until(ctx context.Context, at time.Duration) bool {
	select {
	case <-time.After(time.Until(s.begun.Add(at))):
		return true
	case <-ctx.Done():
	case <-s.stopped:
	}
	return false
}

// open takes the reading at the beginning of a turn, once.
func (s *stint) open(r *runner) {
	if r.failed != nil {
		return
	}
	r.edges = map[*conversation]*record.Edge{}
	r.failed = s.read(r, contract.Mark{Reset: !r.opened, Keep: r.opened}, r.edges)
	r.opened, r.begun = true, true
}

// shut takes the reading at the end of a turn, which is the beginning of the next where that
// is the same load's, and has the record kept when the client has told the part.
func (s *stint) shut(i int) {
	r := s.turns[i].of
	begun, ended := r.edges, map[*conversation]*record.Edge{}
	if r.failed == nil {
		r.failed = s.read(r, contract.Mark{Part: true}, ended)
	}
	if r.failed != nil {
		s.fail(i)
		return
	}
	r.edges, r.begun = ended, i+1 < len(s.turns) && s.turns[i+1].of == r
	s.kept <- func() error { return s.keepTurn(i, begun, ended) }
}

// read takes a reading of every worker of a load at the same moment; a server only reads.
func (s *stint) read(r *runner, mark contract.Mark, into map[*conversation]*record.Edge) error {
	mark.ID = int(s.markID.Add(1))
	var mu sync.Mutex
	var group errgroup.Group
	for _, c := range r.trial.all {
		group.Go(func() error {
			asked := mark
			if c.worker.Role.Serves() {
				asked = contract.Mark{ID: mark.ID, Reset: mark.Reset}
			}
			_, edge, err := c.read(r.trial.ctx, asked, s.bench.Timeouts.Answer)
			if err != nil {
				return err
			}
			c.enter("window")
			mu.Lock()
			defer mu.Unlock()
			into[c] = edge
			return nil
		})
	}
	return group.Wait()
}

// fail has a turn's record kept as that of a trial that failed.
func (s *stint) fail(i int) {
	r := s.turns[i].of
	out := record.Record{Schema: record.Schema, Trial: s.trials[i], StartedAt: time.Now().UTC(), Noise: record.Noise{LoadAverage: loadAverage()}}
	out.Outcome, out.Failure = outcome(r.failed)
	r.trial.nameServer(out.Failure)
	for _, c := range r.trial.all {
		c.mu.Lock()
		w := turnOf(c.worker, nil, nil)
		c.mu.Unlock()
		w.Setup, w.Result = nil, nil // what its load has sent is told once, at the end
		out.Workers = append(out.Workers, w)
	}
	s.kept <- func() error { return s.write(i, &out) }
}

// keepTurn makes a turn's record, once the clients have told their parts.
func (s *stint) keepTurn(i int, begun, ended map[*conversation]*record.Edge) error {
	r, turn := s.turns[i].of, s.turns[i]
	const before = time.Millisecond // 0 is an instant that was not reached
	out := record.Record{
		Schema: record.Schema, Trial: s.trials[i], Outcome: record.OK, Turn: true,
		StartedAt: s.begun.Add(turn.from - before).UTC(), Noise: record.Noise{LoadAverage: loadAverage()},
		Timeline: record.Timeline{ReadyNs: int64(before), StartNs: int64(before), OpenNs: int64(before), CloseNs: int64(before + turn.to - turn.from), EndNs: int64(before + turn.to - turn.from)},
	}
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
			// What came between two turns was due in the one before; between the warm-up of a load
			// alone and its first turn nothing did.
			if i == 0 && len(s.runners) > 1 || i > 0 && s.turns[i-1].of != r {
				if w.Result.FromNs, err = turnBegan(w, turn.to-turn.from); err != nil {
					return err
				}
			}
			w.Result.Sent = &contract.Sent{Window: endedOf(w.Result.Counts)}
			if i == r.turns[0] {
				w.Result.Sent.Verify, w.Result.Sent.Before = int64(w.Ready.Verified), endedOf(begun[c].Reading.Counts)
			}
		}
		out.Workers = append(out.Workers, w)
	}
	if i == r.turns[len(r.turns)-1] { // what drains after it is told at the end
		r.last = &out
		return nil
	}
	return s.write(i, &out)
}

// turnBegan returns when the window of a client's turn began that has others before it: as
// long before its end as the turn was planned, since nothing was due outside. A closed loop's
// exchanges that were under way as the turn ended took its slots beyond: there the window is
// as long as the slots were taken, so that the rate is not too high by them.
func turnBegan(w record.Worker, planned time.Duration) (int64, error) {
	lasts, load := float64(planned), w.Setup.Load
	if load.Rate == 0 && load.ThinkNs == 0 {
		service, err := hist.Decode(w.Result.Service)
		if err != nil {
			return 0, err
		}
		lasts = max(lasts, service.MeanNs()*float64(service.Count())/load.Slots())
	}
	return w.Result.ToNs - int64(lasts), nil
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

// keep writes the records in their order, and asks between blocks whether the run ends. It
// goes on beside the loads, which do not wait for it.
func (s *stint) keep() error {
	var first error
	for do := range s.kept {
		if first == nil {
			first = do()
		}
	}
	return first
}

// write keeps the record of a turn, unless the run was settled before its block.
func (s *stint) write(i int, out *record.Record) error {
	plan := s.trials[i]
	if s.ended > 0 && plan.Block > s.ended {
		return nil
	}
	if sent, known := out.Sent(); known {
		s.turns[i].of.told += sent.All()
	}
	if err := s.bench.Keep(*out); err != nil {
		return fmt.Errorf("keep record of trial %s: %w", plan.ID, err)
	}
	s.bench.tell(Event{Trial: plan, Index: i, Of: len(s.turns), Record: out})
	if next := endOfBlock(s.trials, i); next == i+1 && next < len(s.trials) && s.bench.Before != nil {
		_, ended, err := s.bench.Before(s.trials[next].Block, s.trials[next:endOfBlock(s.trials, next)])
		if err != nil {
			return fmt.Errorf("before block %d: %w", s.trials[next].Block, err)
		}
		if ended {
			s.ended = plan.Block
			close(s.stopped)
		}
	}
	return nil
}

// finish ends the loads, waits for what is in flight, and adds it to the last records.
func (s *stint) finish(ctx context.Context) {
	var ending sync.WaitGroup
	for _, r := range s.runners {
		ending.Go(func() {
			if r.failed == nil {
				r.failed = r.trial.results(r.trial.ctx, r.trial.clients, r.trial.stop)
			}
		})
	}
	ending.Wait()
	for _, r := range s.runners {
		if ctx.Err() != nil {
			return
		}
		s.kept <- func() error {
			if r.last == nil {
				return s.tellRest(r)
			}
			for i := range r.last.Workers {
				w := &r.last.Workers[i]
				for _, c := range r.trial.clients {
					if c.worker.Name == w.Name && w.Result != nil && r.failed == nil {
						if err := drainInto(w.Result, c.worker.Result); err != nil {
							return err
						}
					}
				}
			}
			return errors.Join(s.write(r.turns[len(r.turns)-1], r.last), s.tellRest(r))
		}
	}
}

// drainInto adds to a part what completed after its end, and what was left unfinished.
func drainInto(part, rest *contract.Result) error {
	if rest == nil {
		return nil
	}
	texts := [][2]*string{{&part.Service, &rest.Service}, {&part.Response, &rest.Response}, {&part.Lag, &rest.Lag}}
	if part.Lengths != "" { // else all replies are as long as setup said
		texts = append(texts, [2]*string{&part.Lengths, &rest.Lengths})
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
	part.Drained = rest.Counts.Exchanges + rest.Drained
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

// tellRest tells of the requests that no record has: those that ended after the last turn, or
// after the run was settled.
func (s *stint) tellRest(r *runner) error {
	rest := -r.told
	for _, c := range r.trial.clients {
		c.mu.Lock()
		w := record.Record{Workers: []record.Worker{c.worker}}
		c.mu.Unlock()
		sent, known := w.Sent()
		if !known {
			return nil
		}
		rest += sent.All()
	}
	if rest <= 0 || s.bench.Rest == nil {
		return nil
	}
	return s.bench.Rest(r.plan.Arm, rest)
}

// endedOf is how many exchanges ended, completed or failed.
func endedOf(c contract.Counts) int64 {
	n := c.Exchanges
	for _, failed := range c.Errors {
		n += failed
	}
	return n
}

func (s *stint) close() {
	var closing sync.WaitGroup
	for _, r := range s.runners {
		closing.Go(func() {
			r.trial.fail(nil)
			_, _ = r.trial.closeAll() // their records are kept
		})
	}
	closing.Wait()
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
