package bench

import (
	"context"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// A trial's processes are started while those of the trial before end: its results have
// come, and nothing is measured. On loopback alone, where nothing of the host is made
// another between the two.

// startAhead starts the workers of the trial that follows one whose results have come.
// Where that is not possible, the trial starts them itself, and says why it cannot.
func (b *Bench) startAhead(ctx context.Context, done *trial) {
	if _, here := b.Rig.(rig.Loopback); !here || done.round.next == nil {
		return
	}
	plan := *done.round.next
	next := b.newTrial(ctx, plan, &round{plans: []record.Trial{plan}, shown: plan.ID})
	if err := next.place(ctx); err != nil || len(b.hopeless(next.round.plans)) > 0 {
		next.fail(nil)
		return
	}
	if err := next.launch(ctx); err != nil {
		next.drop()
		return
	}
	b.ahead = next
}

// taken returns a trial, whose workers may have been started already.
func (b *Bench) taken(ctx context.Context, plan record.Trial, r *round) *trial {
	t := b.ahead
	if t == nil || t.plan.ID != plan.ID {
		return b.newTrial(ctx, plan, r)
	}
	b.ahead, t.round = nil, r
	return t
}

// dropAhead ends the workers of a trial that does not come next.
func (b *Bench) dropAhead() {
	if b.ahead != nil {
		b.ahead.drop()
		b.ahead = nil
	}
}

// drop ends what was started ahead of a trial that does not come.
func (t *trial) drop() {
	t.fail(nil)
	_, _ = t.closeAll() // of no trial: there is no record that could tell
}
