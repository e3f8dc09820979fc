package truth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
)

// stage is where the cases are carried out, several at a time.
type stage struct{ model *bench.Bench }

// newStage finds the programs in bin.
func newStage(ctx context.Context, bin string) (*stage, error) {
	model, err := session.OnLoopback(ctx, bin)
	return &stage{model}, err
}

// bench returns a bench of its own on a rig.
func (s *stage) bench(on rig.Rig) *bench.Bench {
	return &bench.Bench{Rig: on, Catalog: s.model.Catalog, Meter: s.model.Meter}
}

// outcome is a trial behind a relay: what was recorded and what was injected.
type outcome struct {
	record   *record.Record
	window   *record.Window
	held     *hist.Histogram // by exchange, in ns
	lateness *hist.Histogram // by chunk, in ns
	path     time.Duration   // median service time of the same transport through a relay that adds nothing
}

// conduct runs one trial behind a relay.
func (s *stage) conduct(ctx context.Context, levels []string, inject Injection) (o outcome, err error) {
	plan, err := planned(levels)
	if err != nil {
		return o, err
	}
	work, err := study.Decode(plan.Levels)
	if err != nil {
		return o, err
	}
	// Connecting many at once makes the relay late before anything counts: one
	// verified exchange on each connection, and an open loop's warm-up.
	inject.Uncounted = int64(work.Load.Connections) + int64(work.Load.Rate*work.Warmup.Seconds())
	ctx, end := context.WithCancel(ctx)
	defer end()
	server, err := s.serve(ctx, plan)
	if err != nil {
		return o, err
	}
	defer func() {
		end()
		err = errors.Join(err, <-server.ended)
	}()
	relay, err := NewRelay(server.address, inject)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	r, err := s.drive(ctx, plan, relay.Address())
	if err != nil {
		return o, err
	}
	return outcome{record: r, window: record.NewWindow(r), held: relay.Held(), lateness: relay.Lateness()}, nil
}

// planned returns the trial of a typed study with small messages.
func planned(levels []string) (record.Trial, error) {
	// Left to the scheduler: three processes share the CPUs with whatever else
	// the machine does.
	args := append([]string{"request=64B", "response=64B", "blocks=1", "placement=free", "warmup=" + warmup.String()}, levels...)
	_, trials, err := session.TrialsOf(args...)
	if err != nil {
		return record.Trial{}, err
	}
	return trials[0], nil
}

// standing is a server that waits for clients.
type standing struct {
	address string
	ended   <-chan error // one: why it ended, nil when its context did
}

// serve stands up the trial's server until ctx ends.
func (s *stage) serve(ctx context.Context, plan record.Trial) (standing, error) {
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		listening := false
		_, err := s.bench(rig.Loopback{}).Serve(ctx, plan, bench.Standing{Observe: func(w record.Worker) {
			if !listening {
				listening = true
				ready <- w.Ready.Addresses[0] // a server without one fails before
			}
		}})
		ended <- err
	}()
	select {
	case address := <-ready:
		return standing{address, ended}, nil
	case err := <-ended:
		return standing{}, fmt.Errorf("stand up the server: %w", err)
	}
}

// drive runs the trial's clients against an address.
func (s *stage) drive(ctx context.Context, plan record.Trial, address string) (*record.Record, error) {
	at, err := rig.NewExternal(ctx, []string{address}, "")
	if err != nil {
		return nil, err
	}
	records, err := session.Conduct(ctx, s.bench(at), []record.Trial{plan})
	if err != nil {
		return nil, err
	}
	left := records[0]
	if left.Outcome != record.OK {
		return nil, fmt.Errorf("the trial is %s: %s", left.Outcome, left.Failure.Text)
	}
	return &left, nil
}
