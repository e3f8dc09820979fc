// Package bench walks a plan: it seats and starts each trial's workers, leads
// them through the contract, and leaves one record for every trial.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// Bench is what trials run on. Its fields are set once; one goroutine calls Run.
type Bench struct {
	Rig     rig.Rig
	Hosts   []rig.Host // of the rig, as a survey completed them; nil for the rig's own word
	Catalog *Catalog
	Meter   []string                               // argv that meters what follows it: "…/netdyno", "meter"
	Keep    func(record.Record) error              // makes a record durable
	Observe func(Event)                            // may be nil; called from several goroutines
	Before  BeforeBlock                            // may be nil
	Stints  bool                                   // trials are turns of loads that go on, see Catalog.TakesTurns: what Before says of them is whether the run ends
	Rest    func(arm string, requests int64) error // is told of requests to a server that runs on which no record has; may be nil
	Apart   bool                                   // in stints: no process serves two arms, so that loads may alternate between two readings of it
	Roams   bool                                   // in stints: the kernel moves the servers, so that clients change places with them
	Again   MadeAgain                              // may be nil

	Messages map[string]contract.Structure                // by level of factor message, every one of the plan
	Workload func(study.Work, uint64) (study.Work, error) // makes a trial's work that of its workload, by the trial's seed; nil where none has one
	Texts    TextFile                                     // of levels that stand for texts; nil where there are none
	Timeouts Timeouts                                     // the zero value is the standard

	ahead     *trial    // whose workers were started while the one before ended; nil where there is none
	disturbed bool      // a trial of the last round failed
	givenUp   givenUp   // trials whose workers did not get ready in time
	lostHosts lostHosts // hosts on which trials of a mesh fail, whoever their partner is

	sealing    sync.Mutex               // of what trials of one round share
	identities map[string]*contract.TLS // by the server's address, made for this run
}

// BeforeBlock is asked before the first trial of a block, and when a run goes on inside
// one. The function returns which of the planned trials run, and whether the run has
// ended; of a run that has ended only the probes are left, before which it is asked too:
// their rates may follow from what was measured.
type BeforeBlock func(block int, planned []record.Trial) (run []record.Trial, ended bool, err error)

// MadeAgain is asked before the record of a trial is kept. Where it says what disturbed the
// trial, it has kept the record itself, as one that does not count, and the trial is made
// again at once.
type MadeAgain func(record.Record) (by record.Disturbance, err error)

// TextFile returns the file on a host that holds the text for which a level stands.
type TextFile func(host rig.Host, level string) (string, error)

// Event is one step of a run, for whoever shows progress.
type Event struct {
	Trial  record.Trial
	Index  int            // of the trials to run, from 0
	Of     int            // how many those are
	Again  string         // as the trial begins: what disturbed it, and for how long; "" of a first attempt
	Record *record.Record // the trial has ended
	Client int            // with Tick: which client
	Tick   *contract.Tick // the trial is running; of a round only its first one tells
}

// Run carries out the trials in order, those of a round at the same time. It stops
// early when ctx ends or a record cannot be kept; the trials under way then leave no
// record and are run again on resume. Before each block it asks what of the block runs.
func (b *Bench) Run(ctx context.Context, trials []record.Trial) (err error) {
	b.Timeouts = b.Timeouts.orStandard()
	b.givenUp, b.lostHosts = givenUp{}, lostHosts{}
	defer b.dropAhead()
	if b.Stints {
		return b.stint(ctx, trials)
	}
	ended := false
	for from := 0; from < len(trials); {
		to := endOfBlock(trials, from)
		block := trials[from:to]
		if probes := block[0].Probe; !probes && ended {
			block = nil
		} else if b.Before != nil {
			if block, ended, err = b.Before(block[0].Block, block); err != nil {
				return fmt.Errorf("before block %d: %w", trials[from].Block, err)
			}
		}
		b.lostHosts = lostHosts{} // they are tried again: a host may have been started anew
		following := trials[to:]
		if b.Before != nil {
			following = nil // what comes is not decided yet
		}
		if err := b.block(ctx, block, following, from, len(trials)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// block carries out the trials of one block, which begin at a place among all that are
// to run.
func (b *Bench) block(ctx context.Context, trials, following []record.Trial, place, of int) error {
	for from := 0; from < len(trials); {
		to := endOfRound(trials, from)
		r := &round{plans: trials[from:to], shown: trials[from].ID, next: alone(trials[to:], following)}
		if to-from > 1 {
			r.next = nil
		}
		if err := b.round(ctx, r, place+from, of); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (b *Bench) hosts() []rig.Host {
	if b.Hosts != nil {
		return b.Hosts
	}
	return b.Rig.Hosts()
}

func (b *Bench) tell(e Event) {
	if b.Observe != nil {
		b.Observe(e)
	}
}

// meterArgv is what stands before a worker's own argv; nothing when the bench
// has no meter, as where its own cost is measured, or a client is tried.
func (b *Bench) meterArgv(seat rig.Seat, roam []int, bound time.Duration) []string {
	if len(b.Meter) == 0 {
		return nil
	}
	argv := slices.Clone(b.Meter)
	argv = append(argv, "--deadline", bound.String())
	if len(seat.CPUs) > 0 {
		argv = append(argv, "--cpus", cpuset.Format(seat.CPUs))
	}
	if len(roam) > 0 {
		argv = append(argv, "--roam", cpuset.Format(roam))
	}
	return append(argv, "--")
}

// loadAverage is the host's over the last minute; 0 where there is none.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	average, _ := strconv.ParseFloat(first, 64) // the kernel writes a number
	return average
}

// Timeouts is how long each step of a trial may take before the trial fails. A
// field that is 0 takes its standard, which is generous: it bounds hangs, it
// does not judge.
type Timeouts struct {
	Hello   time.Duration // for a worker to introduce itself; 10 s
	Setup   time.Duration // to listen or connect; 15 s, and perConnection on top
	Answer  time.Duration // to a mark, and to stop on top of the draining; 10 s
	Amount  time.Duration // for a fixed amount of work; 30 min
	Recover time.Duration // for a rig to recover from a failed trial; 60 s
}

const (
	perConnection = 2 * time.Millisecond // for making and verifying it
	leastDrain    = 2 * time.Second      // load.drain_ns, and the whole window where that is longer
)

// drain is how long a client waits for what is in flight at the end of a window. A
// server that took seconds for an answer in a long window may take as long after
// its end, and what has a deadline is over by then.
func (t *trial) drain() time.Duration {
	return max(leastDrain, t.work.Window, time.Duration(t.work.Load.DeadlineNs)+leastDrain/2)
}

func (p Timeouts) orStandard() Timeouts {
	return Timeouts{
		Hello:   cmp.Or(p.Hello, 10*time.Second),
		Setup:   cmp.Or(p.Setup, 15*time.Second),
		Answer:  cmp.Or(p.Answer, 10*time.Second),
		Amount:  cmp.Or(p.Amount, 30*time.Minute),
		Recover: cmp.Or(p.Recover, time.Minute),
	}
}
