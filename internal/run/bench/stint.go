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
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// A stint measures servers that run on by one continuous load for each arm in each cell:
// workers start once, connections open once, and the trials of the plan are turns of these
// loads on the wall clock, which never wait for an answer. So no pause of a server hides
// between two trials. Each turn leaves its trial's record, with the counts and times of the
// load between the turn's edges. The arms of a cell take their turns of a block together, in
// slices of which each arm has as many, in random order: what the machine does to one of
// them for longer than a slice it does to all (docs/decisions.md, "Slices").
type stint struct {
	bench   *Bench
	runners []*runner // in the order of their first turns
	turns   []turn
	bouts   []bout
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
	edges  edges
	last   *record.Record // of its last turn, which what drains is added to
	told   int64          // requests that its records have
}

// edges are the readings of a load's workers at one moment.
type edges map[*conversation]*record.Edge

// turn is a trial's.
type turn struct {
	of *runner
	in *bout
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
// trials follow each other as they are planned, those of a block and cell in one bout.
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
	severalArms := slices.ContainsFunc(s.trials, func(t record.Trial) bool { return t.Arm != s.trials[0].Arm })
	s.bouts = boutsOf(s.trials, s.bench.Apart)
	for k := range s.bouts {
		b := &s.bouts[k]
		if b.rests = severalArms; b.rests {
			at += study.Rest
		}
		b.from = at
		for i := b.first; i < b.first+b.turns; i++ {
			r := of[[2]string{s.trials[i].Arm, s.trials[i].Cell}]
			s.turns, r.turns = append(s.turns, turn{r, b}), append(r.turns, i)
		}
		order := b.slices(s.trials[b.first].Seed)
		for _, i := range order {
			r := s.turns[b.first+i].of
			add(r, r.trial.work.Window*time.Duration(b.turns)/time.Duration(len(order)))
		}
		b.to = at
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

// setUp starts the workers of all loads, and has their connections made one load after the
// other, of few connections first: a server that has room for those alone shall serve them.
func (s *stint) setUp(ctx context.Context) {
	order := slices.Clone(s.runners)
	slices.SortStableFunc(order, func(a, b *runner) int {
		return cmp.Compare(a.trial.work.Load.Connections, b.trial.work.Load.Connections)
	})
	rigged := s.bench.prepare(ctx, s.trials[0])
	carryOut := func(r *runner, steps ...func(context.Context) error) {
		for _, step := range steps {
			if r.failed == nil {
				r.failed = cmp.Or(step(r.trial.ctx), context.Cause(r.trial.ctx))
			}
		}
	}
	for _, r := range order {
		r.trial.begun, r.trial.round.rig = time.Now(), rigged
		carryOut(r, r.trial.prepared, r.trial.launch)
	}
	for _, r := range order {
		t := r.trial
		carryOut(r, func(ctx context.Context) error {
			return t.each(t.all, func(c *conversation) error { return t.awaitHello(ctx, c) })
		}, t.setUp, func(ctx context.Context) error { return t.mark(ctx, t.all, idleMark) })
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
	for k := range s.bouts {
		b, opens, shuts := &s.bouts[k], s.bouts[k].from, s.bouts[k].to
		if b.rests {
			opens, shuts = opens-study.Rest+drains, shuts+drains
		}
		of := s.turnsOf(b)
		for i := range of {
			s.bench.tell(Event{Trial: s.trials[b.first+i], Index: b.first + i, Of: len(s.turns)})
		}
		if slices.ContainsFunc(of, func(t turn) bool { return !t.of.begun }) && !s.until(ctx, opens) {
			return
		}
		s.open(of)
		if !s.until(ctx, shuts) {
			return
		}
		s.shut(k)
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

// open takes the readings at the beginning of turns whose loads have none from the end of the
// bout before.
func (s *stint) open(turns []turn) {
	var opening sync.WaitGroup
	for _, t := range turns {
		r := t.of
		if r.failed != nil || r.begun {
			continue
		}
		opening.Go(func() {
			r.edges = edges{}
			r.failed = s.read(r, contract.Mark{Reset: !r.opened, Keep: r.opened}, r.edges)
			r.opened, r.begun = true, true
		})
	}
	opening.Wait()
}

// shut takes the readings at the end of a bout, which are the beginning of the next where that
// has the same loads, and those of the next bout's other loads, at the same moment. The
// records are kept when the clients have told the parts.
func (s *stint) shut(k int) {
	b, here := &s.bouts[k], s.turnsOf(&s.bouts[k])
	var next []turn
	if k+1 < len(s.bouts) {
		next = s.turnsOf(&s.bouts[k+1])
	}
	begun, ended := make([]edges, len(here)), make([]edges, len(here))
	var reading sync.WaitGroup
	for i, t := range here {
		r := t.of
		begun[i], ended[i] = r.edges, edges{}
		if r.failed != nil {
			continue
		}
		reading.Go(func() {
			r.failed = s.read(r, contract.Mark{Part: true}, ended[i])
			r.edges, r.begun = ended[i], takesPart(next, r)
		})
	}
	if !b.rests { // else there is a rest before the next bout, in which its loads are read
		reading.Go(func() {
			s.open(slices.DeleteFunc(slices.Clone(next), func(t turn) bool { return takesPart(here, t.of) }))
		})
	}
	reading.Wait()
	for i, t := range here {
		if t.of.failed != nil {
			s.fail(b.first + i)
			continue
		}
		beside := map[string]int64{}
		for other := range here {
			if other != i {
				addCPU(beside, begun[other], ended[other])
			}
		}
		s.kept <- func() error { return s.keepTurn(b.first+i, begun[i], ended[i], beside) }
	}
}

// addCPU adds the CPU time that a load's workers took between two readings, in ns by boot.
func addCPU(to map[string]int64, begun, ended edges) {
	for c, from := range begun {
		if till := ended[c]; from.Meter != nil && till != nil && till.Meter != nil {
			to[till.Meter.BootID] += till.Meter.Process.CPUNs - from.Meter.Process.CPUNs
		}
	}
}

// read takes a reading of every worker of a load at the same moment; a server only reads.
func (s *stint) read(r *runner, mark contract.Mark, into edges) error {
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
						if err := drainInto(w, c.worker.Result); err != nil {
							return err
						}
					}
				}
			}
			return errors.Join(s.write(r.turns[len(r.turns)-1], r.last), s.tellRest(r))
		}
	}
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
