// Package null is transport null: no bytes move. It completes every exchange
// after a declared time, so that the instrument can be tested against a known
// truth, and with a service time of 0 it is the generator's ceiling.
package null

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Transport is null.
type Transport struct{}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, 100_000.0
	duration := func(name, doc string) contract.Option {
		return contract.Option{Name: name, Type: contract.TypeDuration, Unit: "ns", Default: 0, Min: &zero, Doc: doc}
	}
	return contract.Transport{
		Name:     "null",
		Doc:      "moves nothing; completes each exchange after a declared time",
		Wire:     "null",
		Roles:    []contract.Role{contract.Pair},
		Delivery: contract.DeliveryMessage,
		Codecs:   []string{"bytes"},
		Features: []contract.Feature{contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureMixedTurns, contract.FeatureMix, contract.FeatureTrace, contract.FeatureThink, contract.FeatureTimes, contract.FeatureWorkCPU, contract.FeatureWorkSleep},
		Options: []contract.Option{
			duration("service", "time from send to completion; with slots the time that a server takes, for which it may have to be waited"),
			{Name: "slots", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &most, Doc: "pretended servers with one queue, first come first served; 0 for as many as there are exchanges"},
			{Name: "law", Type: contract.TypeChoice, Default: "fixed", Choices: []string{"fixed", "exponential"}, Doc: "how service times are distributed around service"},
			duration("stall_at", "when the pretended server stalls, since start"),
			duration("stall", "how long it stalls: what is sent meanwhile completes after it"),
		},
	}
}

// Server implements load.Transport; the role is not declared, so it is never
// reached.
func (Transport) Server(contract.Setup) (load.Server, error) { panic("null has no server") }

type client struct {
	load                    *load.Load
	connections             int
	loops                   int
	service, stallAt, stall int64
	queue                   *queue        // nil without slots and law
	work                    *load.Service // nil for none
	closed                  atomic.Bool
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	loops := setup.Threads
	if loops == 0 {
		loops = runtime.GOMAXPROCS(0)
	}
	// A loop spins before a due time; the control goroutine needs its own P.
	runtime.GOMAXPROCS(loops + 1)
	l, err := load.New(setup, loops)
	if err != nil {
		return nil, err
	}
	work, err := load.ServiceOf(setup)
	if err != nil {
		return nil, err
	}
	o := load.Options(setup.Options)
	return &client{
		work: work, load: l, connections: setup.Load.Connections, loops: loops,
		service: o.Int("service"), queue: newQueue(o, setup.Seed), stallAt: o.Int("stall_at"), stall: o.Int("stall"),
	}, nil
}

// Ready implements load.Client. A loop spins until the next due time, so its CPU is busy
// whatever the load. A client of pretended servers therefore says that it polls, so that
// a busy CPU is not taken for the limit; without pretended servers the generator itself
// is measured.
func (c *client) Ready() contract.Ready {
	return contract.Ready{Connections: c.connections, Verified: c.connections, Threads: c.loops, Polls: c.queue != nil}
}

// Load implements load.Client.
func (c *client) Load() *load.Load { return c.load }

// Run implements load.Client.
func (c *client) Run() error {
	begun := load.Now()
	var wait sync.WaitGroup
	for loop := range c.loops {
		var slots []*load.Slot
		for i := loop; i < c.connections; i += c.loops {
			for s := range c.load.Slots(i) {
				slots = append(slots, &c.load.Slots(i)[s])
			}
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			runtime.LockOSThread()                             // ends with the goroutine, and its slack too
			_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // where it fails, sleeps end later
			c.run(slots, begun)
		}()
	}
	wait.Wait()
	return nil
}

// run drives one loop's slots in the order of what happens to them.
func (c *client) run(slots []*load.Slot, begun int64) {
	var agenda load.Agenda[event]
	ask := func(slot *load.Slot, now int64) {
		if due, more := slot.Next(now); more {
			agenda.Push(due, event{slot: slot})
		}
	}
	for _, slot := range slots {
		ask(slot, load.Now())
	}
	for agenda.Len() > 0 {
		at, e := agenda.Peek()
		if !c.wait(at, e) {
			return
		}
		agenda.Pop()
		now := load.Now()
		switch {
		case e.sent != 0:
			e.slot.Done(e.sent, now, e.slot.Draw().Down)
			ask(e.slot, now)
		case at > now: // the load ended before it was due
			e.slot.Cancel()
		default:
			e.sent = now
			agenda.Push(c.worked(now, begun), e)
		}
	}
}

// worked is when an exchange sent now completes, its work included. Work on a CPU is done
// here, while the loop does nothing else.
func (c *client) worked(now, begun int64) int64 {
	switch {
	case c.work == nil:
		return c.completion(now, begun)
	case c.work.Sleeps():
		return c.completion(now, begun) + c.work.Next()
	}
	c.work.Serve()
	return c.completion(load.Now(), begun)
}

// completion is when an exchange sent now completes.
func (c *client) completion(now, begun int64) int64 {
	if from, to := begun+c.stallAt, begun+c.stallAt+c.stall; now >= from && now < to {
		now = to
	}
	if c.queue != nil {
		return c.queue.completion(now)
	}
	return now + c.service
}

// wait returns when at has come, or when e is a send and the load has ended;
// false when the client was closed. It sleeps short of the time and spins the
// rest. The kernel's timer it is, because the runtime's overshoots by up to 1 ms.
func (c *client) wait(at int64, e event) bool {
	const short, most = int64(500 * time.Microsecond), int64(20 * time.Millisecond)
	for {
		left := at - load.Now()
		switch {
		case c.closed.Load():
			return false
		case left <= 0 || (e.sent == 0 && c.ended()):
			return true
		case left > short:
			t := unix.NsecToTimespec(min(left-short, most))
			_ = unix.Nanosleep(&t, nil) // an interrupted sleep is asked for again
		}
	}
}

func (c *client) ended() bool {
	select {
	case <-c.load.Ended():
		return true
	default:
		return false
	}
}

// Close implements load.Client.
func (c *client) Close() error {
	c.closed.Store(true)
	return nil
}

// event is a slot's next step: a send (sent is 0) or a completion.
type event struct {
	slot *load.Slot
	sent int64
}

// queue pretends some servers with one queue in front of them, whose capacity is known:
// with a fixed service time D/D/c or M/D/c, with an exponential one M/M/c. Any loop may
// call it; whoever asks first is served first.
type queue struct {
	mutex   sync.Mutex
	service int64   // ns, the mean
	free    []int64 // when each server is idle again
	random  *rand.Rand
}

// newQueue makes the servers that options ask for; nil where none are asked for.
func newQueue(o load.Options, seed uint64) *queue {
	q := &queue{service: o.Int("service"), free: make([]int64, o.Int("slots"))}
	if o.Text("law") == "exponential" {
		q.random = rand.New(rand.NewPCG(seed, 1))
	}
	if len(q.free) == 0 && q.random == nil {
		return nil
	}
	return q
}

// completion is when an exchange sent now completes.
func (q *queue) completion(now int64) int64 {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	service := q.service
	if q.random != nil {
		service = int64(q.random.ExpFloat64() * float64(q.service))
	}
	if len(q.free) == 0 { // nobody waits
		return now + service
	}
	first := slices.Index(q.free, slices.Min(q.free))
	q.free[first] = max(now, q.free[first]) + service
	return q.free[first]
}
