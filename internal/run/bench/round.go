package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// round is the trials that run at the same time, each with its own workers on its own
// hosts; in most studies one trial. The rig prepares all its hosts once before the first
// trial of a round and clears them once after the last.
type round struct {
	plans []record.Trial
	shown string // the trial whose ticks are told
	rig   error  // what the rig could not do; of single hosts as rig.HostErrors

	again string        // what disturbed the trial as it was made before
	next  *record.Trial // that follows a trial, each by itself; nil where there is none
}

// alone returns the trial that comes next, where it runs by itself.
func alone(rest, following []record.Trial) *record.Trial {
	if len(rest) == 0 {
		rest = following
	}
	if len(rest) == 0 || endOfRound(rest, 0) > 1 {
		return nil
	}
	return &rest[0]
}

// endOfBlock returns where the block ends that begins at a place of the plan.
func endOfBlock(trials []record.Trial, from int) int {
	to := from + 1
	for to < len(trials) && trials[to].Block == trials[from].Block && trials[to].Probe == trials[from].Probe {
		to++
	}
	return to
}

// endOfRound returns where the round ends that begins at a place of the plan.
func endOfRound(trials []record.Trial, from int) int {
	to := from + 1
	for to < len(trials) && study.AtOnce(trials[from], trials[to]) {
		to++
	}
	return to
}

// round carries out the trials of one round, which begin at a place among all that are
// to run, and keeps their records, one after the other when all have ended.
func (b *Bench) round(ctx context.Context, r *round, place, of int) error {
	events := make([]Event, len(r.plans))
	for i, plan := range r.plans {
		events[i] = Event{Trial: plan, Index: place + i, Of: of, Again: r.again}
	}
	for i := len(events) - 1; i >= 0; i-- { // the first last: it is the one that is shown
		b.tell(events[i])
	}
	hopeless := b.hopeless(r.plans)
	if len(hopeless) < len(r.plans) {
		r.rig = b.prepare(ctx, r.plans[0])
	}
	records := make([]record.Record, len(r.plans))
	var running sync.WaitGroup
	for i, plan := range r.plans {
		running.Go(func() {
			if known := hopeless[plan.ID]; known != nil {
				records[i] = untried(plan, known)
				return
			}
			records[i] = b.trial(ctx, plan, r)
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.learn(records, hopeless)
	if again, err := b.again(records); err != nil || again != "" {
		if err != nil {
			return err
		}
		r.again = again
		return b.round(ctx, r, place, of)
	}
	for i := range records {
		if err := b.Keep(records[i]); err != nil {
			return fmt.Errorf("keep record of trial %s: %w", r.plans[i].ID, err)
		}
		events[i].Again, events[i].Record = "", &records[i]
		b.tell(events[i])
	}
	return nil
}

// again says what disturbed a trial that is made again; "" of a round whose records count.
// Trials that ran at the same time are kept: to make one again, all others would have to run
// beside it, and a mesh measures each pair in several rounds anyway.
func (b *Bench) again(records []record.Record) (string, error) {
	if b.Again == nil || len(records) > 1 {
		return "", nil
	}
	by, err := b.Again(records[0])
	if err != nil {
		return "", fmt.Errorf("keep the disturbed trial %s: %w", records[0].Trial.ID, err)
	}
	if by.Why != "" {
		b.dropAhead()
	}
	return by.String(), nil
}

// hopeless returns the trials that need not be tried, by ID, with what is known of
// each.
func (b *Bench) hopeless(plans []record.Trial) map[string]*failure {
	known := map[string]*failure{}
	for _, plan := range plans {
		f := b.givenUp.known(plan)
		if f == nil {
			f = b.lostHosts.known(plan)
		}
		if f != nil {
			known[plan.ID] = f
		}
	}
	return known
}

// learn takes up how the trials of a round ended.
func (b *Bench) learn(records []record.Record, hopeless map[string]*failure) {
	if len(hopeless) < len(records) {
		b.disturbed = false
	}
	for i := range records {
		plan, f := records[i].Trial, records[i].Failure
		if hopeless[plan.ID] != nil {
			continue
		}
		b.disturbed = b.disturbed || f != nil
		b.givenUp.learn(plan, f)
		b.lostHosts.learn(plan, f)
	}
}

// prepare puts the rig in order and makes its links what the trials of a round ask
// for; they all ask the same.
func (b *Bench) prepare(ctx context.Context, plan record.Trial) error {
	work, err := study.Decode(plan.Levels)
	if err != nil {
		return nil // each trial says so itself
	}
	if recoverer, able := b.Rig.(rig.Recoverer); able && b.disturbed {
		bounded, cancel := context.WithTimeout(ctx, b.Timeouts.Recover)
		defer cancel()
		if err := recoverer.Recover(bounded); err != nil {
			return fmt.Errorf("recover the rig: %w", err)
		}
	}
	if shaper, able := b.Rig.(rig.Shaper); able {
		return shaper.Shape(ctx, work.Link)
	}
	if work.Link != (record.Link{}) {
		return &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: rig.Unshaped(b.Rig).Error()}}
	}
	return nil
}

// errorOf returns what the rig could not do for a trial on these hosts, as its
// failure.
func (r *round) errorOf(hosts []string) error {
	err := rig.ErrorOf(r.rig, hosts...)
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{Failure: record.Failure{Kind: contract.SetupFailed, Text: err.Error(), State: "born"}}
}
