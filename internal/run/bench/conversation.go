package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// What a worker may say unasked. More would fill the memory and the record.
const (
	leastTick = 50 * time.Millisecond // between ticks in the mean; the contract has 200 ms
	tickSlack = 20                    // ticks above that, for those that were held up
	maxErrors = 16                    // kept in the record
)

// causeTimeout is how long a worker's word that it has lost its peers waits for
// the reason. When a server dies its clients notice, and theirs is often the
// first word of it; the server's own meter tells as soon as it runs.
const causeTimeout = 2 * time.Second

// conversation is one worker of one trial, with the messages that the worker has sent.
// Its pump goroutine collects messages; the trial's goroutines wait for them. The first
// error message, or an end that nobody asked for, ends the whole trial through fail.
type conversation struct {
	process    *rig.Process
	host       rig.Host
	trial      context.Context         // ends with the trial
	fail       context.CancelCauseFunc // ends the trial
	serverOurs bool                    // a client whose server's end we would hear of
	metered    bool                    // a meter stands between the worker and us
	explain    func(*failure) bool     // ends the trial when a meter shows the cause of what a client has told; whether it is open still
	late       func(c *conversation, answer string, waited time.Duration)
	answers    chan contract.Message   // what the trial waits for
	examined   chan *contract.Examined // what its meter sees
	parts      chan contract.Message   // of its load, as they are told
	pumped     chan struct{}
	begun      time.Time
	observe    func(contract.Tick)

	mu        sync.Mutex
	worker    record.Worker
	thin      thinning
	state     string
	ending    bool          // we closed its stdin: an end is expected
	peersLost *failure      // it has lost its peers, and said so
	told      chan struct{} // closed when that counts as the reason
}

// failure is a trial's end as a Go error.
type failure struct {
	record.Failure
	cause error // what Unwrap returns, where it is known
}

func (f *failure) Unwrap() error { return f.cause }

func (f *failure) Error() string {
	text := f.Text
	if f.Worker != "" {
		text = fmt.Sprintf("%s (%s): %s", f.Worker, f.State, text)
	}
	return fmt.Sprintf("%s: %s", f.Kind, text)
}

// converse launches a worker and begins to listen. The caller has set who the
// worker is, where it sits, and what it is part of.
func (c *conversation) converse(argv []string) error {
	process, err := rig.Start(argv, rig.Options{DeathSignal: syscall.SIGTERM})
	if err != nil {
		return &failure{Failure: record.Failure{Kind: contract.SetupFailed, Text: atHost(c.host, err.Error()), Worker: c.worker.Name, State: "born"}}
	}
	c.process, c.state, c.begun = process, "born", time.Now()
	c.answers, c.examined = make(chan contract.Message, 8), make(chan *contract.Examined, 1)
	c.parts = make(chan contract.Message, 8)
	c.pumped, c.told = make(chan struct{}), make(chan struct{})
	go c.pump()
	if c.metered && len(c.host.Prefix) > 0 {
		go c.renew()
	}
	return nil
}

// A worker behind a command lives on for lease after our last word: the end of its stdin
// does not reach it where the way there is cut, or the command was killed. It is long
// beside what a busy machine or a slow line may hold a word back.
const lease, leaseEvery = 30 * time.Second, 5 * time.Second

// renew tells the meter again and again that we are there, until the worker has ended.
func (c *conversation) renew() {
	every := time.NewTicker(leaseEvery)
	defer every.Stop()
	for {
		_ = c.process.Send(contract.Message{Lease: &contract.Lease{ForNs: int64(lease)}}) // how it ended, the pump tells
		select {
		case <-c.pumped:
			return
		case <-every.C:
		}
	}
}

// pump collects what the worker says until its stdout ends.
func (c *conversation) pump() {
	defer close(c.pumped)
	for received := range c.process.Messages() {
		if received.Err != nil {
			c.failed(contract.Invalid, received.Err.Error())
			continue
		}
		c.takeMessage(received.Message)
	}
	c.mu.Lock()
	expected := c.ending || c.peersLost != nil
	c.mu.Unlock()
	if !expected {
		exit := c.process.Wait(2 * time.Second)
		c.awaitKill()
		c.failed(c.exitReason(exit))
	}
}

// awaitKill waits, where a signal of its own ended a worker, for word that another one was
// killed: a library may abort when its peer has gone, as MPICH's does, and the meter of the
// peer may tell later.
func (c *conversation) awaitKill() {
	c.mu.Lock()
	told := c.worker.Exit
	c.mu.Unlock()
	if told == nil || told.Signal == "" || told.Signal == sigkill {
		return
	}
	select {
	case <-time.After(causeTimeout):
	case <-c.trial.Done():
	}
}

// takeMessage files one message.
func (c *conversation) takeMessage(m contract.Message) {
	c.mu.Lock()
	switch {
	case m.Tick != nil:
		if len(c.worker.Ticks) > tickSlack+int(time.Since(c.begun)/leastTick) {
			c.mu.Unlock()
			c.failed(contract.Invalid, fmt.Sprintf("floods: %d ticks in %v, expected one per 200 ms (CONTRACT.md, section tick)",
				len(c.worker.Ticks), time.Since(c.begun).Round(time.Millisecond)))
			return
		}
		c.keep(*m.Tick)
		observe := c.observe
		c.mu.Unlock()
		if observe != nil {
			observe(*m.Tick)
		}
		return
	case m.Examined != nil:
		c.mu.Unlock()
		select {
		case c.examined <- m.Examined:
		default: // nobody asked
		}
		return
	case m.Exit != nil:
		c.worker.Exit = m.Exit
		c.mu.Unlock()
		if m.Exit.Reason != "" && m.Exit.Reason != "stdin closed" {
			c.failed(contract.Timeout, "the meter ended the worker: "+m.Exit.Reason)
		}
		return
	case m.Error != nil:
		if len(c.worker.Errors) < maxErrors {
			c.worker.Errors = append(c.worker.Errors, *m.Error)
		}
		f := c.failure(m.Error.Kind, m.Error.Text) // nothing we send deserves an error, fatal or not
		lost := c.serverOurs && (f.Kind == contract.Peer || f.Kind == contract.Timeout && c.state == "idle")
		if lost && c.peersLost == nil {
			c.peersLost = f
			go c.awaitCause(f)
		}
		c.mu.Unlock()
		if !lost {
			c.end(f)
		}
		return
	}
	c.mu.Unlock()
	answers := c.answers
	if m.Part != nil {
		answers = c.parts
	}
	select {
	case answers <- m:
	default:
		c.failed(contract.Invalid, fmt.Sprintf("sent %s that nobody asked for", m.Name()))
	}
}

// failed ends the trial with this worker's failure; only the first failure counts. A
// failure of a worker that has reported lost peers is a consequence of the loss, and
// waits, as the report does, for the peers' own word.
func (c *conversation) failed(kind contract.ErrorKind, text string) {
	c.mu.Lock()
	f := c.failure(kind, text)
	lost := c.peersLost
	c.mu.Unlock()
	if lost == nil {
		c.end(f)
		return
	}
	select {
	case <-c.told:
	case <-c.trial.Done():
	}
}

// failure is one of this worker in its present state; the caller holds mu.
func (c *conversation) failure(kind contract.ErrorKind, text string) *failure {
	return &failure{Failure: record.Failure{Kind: kind, Text: atHost(c.host, text), Worker: c.worker.Name, State: c.state}}
}

// end ends the trial, unless it has come to its end.
func (c *conversation) end(f *failure) {
	c.mu.Lock()
	ending := c.ending
	c.mu.Unlock()
	if !ending {
		c.fail(f)
	}
}

// lostPeers returns the failure of a worker that has lost its peers, or of the peer
// that it has lost; nil of others.
func (c *conversation) lostPeers() error {
	c.mu.Lock()
	lost := c.peersLost
	c.mu.Unlock()
	if lost == nil {
		return nil
	}
	select {
	case <-c.told:
		return lost
	case <-c.trial.Done():
		return context.Cause(c.trial)
	}
}

func (c *conversation) enter(state string) {
	c.mu.Lock()
	c.state = state
	c.mu.Unlock()
}

// send passes a command. A worker that is gone or does not read has failed.
func (c *conversation) send(m contract.Message) error {
	if err := c.process.Send(m); err != nil {
		if !errors.Is(err, os.ErrDeadlineExceeded) { // then how the worker ended, which the pump tells, is the failure
			select {
			case <-c.pumped:
			case <-time.After(2 * causeTimeout): // it lives on with its stdin closed
			}
		}
		c.failed(contract.Timeout, err.Error())
		return err
	}
	return nil
}

// await returns the worker's next answer, which must be the named message.
func (c *conversation) await(ctx context.Context, name string, timeout time.Duration) (contract.Message, error) {
	select {
	case m := <-c.answers:
		if m.Name() != name {
			c.failed(contract.Invalid, fmt.Sprintf("answered with %s, expected %s (CONTRACT.md, section Life)", m.Name(), name))
			return m, context.Cause(ctx)
		}
		return m, nil
	case <-ctx.Done():
		return contract.Message{}, context.Cause(ctx)
	case <-time.After(timeout):
		c.late(c, name, timeout)
		return contract.Message{}, context.Cause(ctx)
	}
}

// onTick has every tick from now on told to observe, on the pump's goroutine.
func (c *conversation) onTick(observe func(contract.Tick)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observe = observe
}

// set changes the record of the worker.
func (c *conversation) set(change func(*record.Worker)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.worker)
}

// askToEnd lets the worker end, which is no failure from here on. Asking twice is fine.
func (c *conversation) askToEnd() {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	c.process.CloseInput()
}

// close asks the worker to end, makes it, and returns its part of the record.
func (c *conversation) close() (worker record.Worker, err error) {
	c.askToEnd()
	// The meter gives the worker 2 s, then kills its tree and ends itself.
	const meterTimeout = 10 * time.Second
	if exit := c.process.Wait(meterTimeout); exit.Running {
		c.process.Kill()
		if exit = c.process.Wait(meterTimeout); exit.Running {
			err = errors.New("the meter did not end after SIGKILL; check the host")
		}
	}
	<-c.pumped
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worker.Stderr = c.process.Stderr()
	return c.worker, err
}

// maxTimeline bounds, for each worker, the ticks of a record that have times: a trial of
// seven minutes keeps all of them, a longer one every second, every fourth … so that a
// day's record stays small.
const maxTimeline = 2048

// thinning says which of the ticks that follow keep their times.
type thinning struct {
	every, seen, kept int // every 0 is 1
}

// keep files a tick; the caller holds mu.
func (c *conversation) keep(tick contract.Tick) {
	if tick.Times != nil {
		if c.thin.seen%cmp.Or(c.thin.every, 1) == 0 {
			c.thin.kept++
		} else {
			tick.Times = nil
		}
		c.thin.seen++
	}
	c.worker.Ticks = append(c.worker.Ticks, tick)
	if c.thin.kept == maxTimeline {
		c.thinOut()
	}
}

// thinOut drops every second of the times that were kept, and keeps half as many from
// here on.
func (c *conversation) thinOut() {
	c.thin = thinning{every: 2 * cmp.Or(c.thin.every, 1)}
	for i := range c.worker.Ticks {
		t := &c.worker.Ticks[i]
		if t.Times == nil {
			continue
		}
		if c.thin.kept%2 == 1 {
			t.Times = nil
		}
		c.thin.kept++
	}
	c.thin.kept = (c.thin.kept + 1) / 2
}
