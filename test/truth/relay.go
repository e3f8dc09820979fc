package truth

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"netdyno/internal/hist"
)

// Relay passes the bytes of TCP connections on to a server, in order and each
// as long after it came as the Injection says. Whoever starts one closes it.
// Every method may be called from any goroutine.
type Relay struct {
	listener net.Listener
	server   string
	inject   Injection
	epoch    time.Time

	turns    atomic.Int64   // exchanges begun so far
	stalled  atomic.Int64   // when the stall began; 0 before
	held     *hist.Recorder // what was injected, by exchange
	lateness *hist.Recorder // of every chunk, beyond when it was due

	mu      sync.Mutex
	closed  bool
	ends    []func() error // breaks every connection and every wait
	running sync.WaitGroup
}

// NewRelay listens on a port of the loopback and passes every connection on to
// server (host:port).
func NewRelay(server string, inject Injection) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the relay: %w", err)
	}
	r := &Relay{
		listener: listener, server: server, inject: inject, epoch: time.Now(),
		held: hist.NewRecorder(), lateness: hist.NewRecorder(),
	}
	r.running.Go(r.accept)
	return r, nil
}

// Address returns where clients connect to, host:port.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Held returns for how long exchanges were held, both ways together, in ns, from
// when their bytes had come until they were sent on: what was injected in truth,
// by the relay's own clock. The caller owns it.
func (r *Relay) Held() *hist.Histogram { return r.held.Snapshot() }

// Lateness returns by how much chunks left later than they were due, in ns: what
// Held has more than was asked for. The caller owns it.
func (r *Relay) Lateness() *hist.Histogram { return r.lateness.Snapshot() }

// Close breaks every connection and returns when nothing of the relay runs.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for _, end := range r.ends {
		_ = end() // it may have ended already: peers come and go as they like
	}
	r.mu.Unlock()
	r.running.Wait()
	return err
}

// now is the relay's monotonic clock, in ns.
func (r *Relay) now() int64 { return int64(time.Since(r.epoch)) }

// accept ends with the listener.
func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		if err := r.join(client); err != nil {
			_ = client.Close() // so that the client learns of it
		}
	}
}

// join passes bytes between a client and the server until either is done.
func (r *Relay) join(client net.Conn) error {
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return err
	}
	up, err := newAlarm()
	if err != nil {
		return err
	}
	down, err := newAlarm()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, client.Close, server.Close, up.close, down.close)
	if r.closed { // since; nobody else breaks them
		for _, end := range r.ends {
			_ = end()
		}
		return nil
	}
	e := &exchanges{relay: r}
	r.direct(direction{relay: r, from: client, to: server, alarm: up, begin: e.up, done: e.passedUp})
	r.direct(direction{relay: r, from: server, to: client, alarm: down, begin: e.down, done: e.passedDown})
	return nil
}

func (r *Relay) direct(d direction) {
	if r.inject.Common == 0 {
		r.running.Go(d.pass)
		return
	}
	waiting := make(chan chunk, maxWaiting)
	r.running.Go(func() { d.receive(waiting) })
	r.running.Go(func() { d.send(waiting) })
}
