package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
	"netdyno/internal/work/said"
)

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	path, args, err := t.prepare(setup)
	if err != nil {
		return nil, err
	}
	flows, err := flows(setup)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	c := &client{tool: t.tool, path: path, flows: flows}
	if t.tool.runs != nil {
		c.runs = t.tool.runs(setup)
	}
	if c.ready, err = t.ready(setup, path, len(flows)); err != nil {
		return nil, err
	}
	c.ready.Connections, c.ready.Foreign = setup.Load.Connections, true
	directory, err := child.Directory(t.tool.name)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	var ports []uint16
	for i := range c.flows {
		f := &c.flows[i]
		f.log = filepath.Join(directory, strconv.Itoa(i))
		c.argv = append(c.argv, slices.Concat(t.tool.command(path), t.tool.drive(setup, *f), args))
		number, _ := strconv.ParseUint(f.port, 10, 16) // flows has checked it
		ports = append(ports, uint16(number))
	}
	counter, err := t.counter(setup, ports)
	if err != nil {
		return nil, err
	}
	c.results = newResults(setup, counter)
	c.results.apportioned = t.tool.user != nil
	if t.tool.ahead > 0 {
		if err := c.hold(); err != nil {
			c.finish()
			return nil, err
		}
	}
	return c, nil
}

// counter counts for an end whose servers listen at the ports.
func (t Transport) counter(setup contract.Setup, ports []uint16) (trafficCounter, error) {
	switch {
	case t.tool.count != nil:
		return t.tool.count(setup)
	case setup.Role == contract.Server:
		return serverCounters(setup.Exchange, ports), nil
	}
	c := clientCounters(setup.Exchange, ports)
	if t.tool.user != nil {
		if err := c.watch(); err != nil {
			return nil, load.Failure(contract.Unsupported, err)
		}
	}
	return c, nil
}

// Ready implements load.Client.
func (c *client) Ready() contract.Ready { return c.ready }

// Load implements load.Client; the client is a load.CountingClient.
func (c *client) Load() *load.Load { return nil }

// Results implements load.CountingClient.
func (c *client) Results() load.ResultSource { return c.results }

// Run implements load.Client: it starts the programs, waits for the end of the
// load, interrupts them and reads what they say. A program that ends before is
// an error.
func (c *client) Run() error {
	defer c.finish()
	if len(c.running) == 0 {
		if err := c.start(); err != nil {
			return err
		}
	}
	for _, r := range c.running {
		r.Signal(unix.SIGCONT) // to those that were held
	}
	if err := c.await(); err != nil {
		return err
	}
	c.awaitOwnEnd()
	time.Sleep(c.tool.linger)
	for _, r := range c.running {
		if c.tool.fixed {
			r.Kill() // its report came when its time was over; evpp's client may then hang, and heeds no SIGINT
		} else {
			r.Interrupt()
		}
	}
	own := selfReport{values: map[string]float64{}}
	w := c.window()
	for i, r := range c.running {
		<-r.Exited()
		if c.isClosed() {
			return load.Failure(contract.Timeout, fmt.Errorf("%s did not end in time after its interruption; it said: %s", c.path, r.Output()))
		}
		said, err := c.readReport(i, w)
		if err != nil {
			return load.Failure(contract.Invalid, fmt.Errorf("read the report of %s: %w; it ended with %s", c.path, err, c.exitReason(r)))
		}
		own.addReport(said)
	}
	if err := c.checkTotals(own); err != nil {
		return load.Failure(contract.Invalid, err)
	}
	if err := c.checkReport(own); err != nil && !c.tool.silent {
		return load.Failure(contract.Invalid, err)
	}
	c.results.setOwn(own)
	return nil
}

// await returns when the load has ended; an error when a program has before.
func (c *client) await() error {
	early := make(chan *running, len(c.running))
	for _, r := range c.running {
		go func() {
			<-r.Exited()
			early <- r
		}()
	}
	select {
	case <-c.results.ended:
		return nil
	case r := <-early:
		return load.Failure(contract.Peer, fmt.Errorf("%s ended before the load did: %s", c.path, c.exitReason(r)))
	}
}

func (c *client) readReport(i int, w window) (selfReport, error) {
	stdout, stderr := c.running[i].stdout, c.running[i].stderr
	if stdout.full || stderr.full {
		return selfReport{}, fmt.Errorf("it printed more than %d bytes", captureBytes)
	}
	if c.tool.user != nil {
		return c.tool.user.readPrinted(said.Output{Stdout: stdout.text, Stderr: stderr.text})
	}
	if c.tool.stderr {
		return c.tool.read(c.flows[i], stderr.text, w)
	}
	return c.tool.read(c.flows[i], stdout.text, w)
}

// window translates the window to the clock that other programs read.
func (c *client) window() window {
	from, to, known := c.results.window()
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return window{} // the clock exists on every Linux
	}
	offset := now.Nano() - load.Now()
	return window{from + offset, to + offset, known}
}

// checkReport compares the bytes that the programs report with the bytes that the kernel
// counted up to the last reading. The programs run on for a moment after that reading, so
// they may report more, but not less than was already delivered.
func (c *client) checkReport(own selfReport) error {
	const (
		share = 0.99    // headers and cookies of their own are delivered too
		queue = 8 << 20 // of a connection: received by the kernel, never read by the program
	)
	counted := c.results.Snapshot()
	for _, way := range []struct {
		verb      string
		own, seen int64
	}{{"sent", own.sent, counted.SentBytes}, {"received", own.received, counted.ReceivedBytes}} {
		if least := share*float64(way.seen) - float64(queue*c.ready.Connections); float64(way.own) < least {
			return fmt.Errorf("%s reports that it %s %d bytes, but the kernel counted %d on its connections", c.tool.name, way.verb, way.own, way.seen)
		}
	}
	return nil
}

// addReport adds the report of another process. Rates and histograms add up too.
func (s *selfReport) addReport(o selfReport) {
	s.sent += o.sent
	s.received += o.received
	s.exchanges += o.exchanges
	s.failed += o.failed
	for name, v := range o.values {
		s.values[name] += v
	}
	if s.service == nil {
		s.service = o.service
	} else if o.service != nil {
		s.service.Merge(o.service)
	}
}

func (c *client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Close implements load.Client.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, r := range c.running {
		r.Kill()
	}
	return c.remove()
}

// finish ends the programs and removes their files.
func (c *client) finish() {
	for _, r := range c.running {
		r.Kill()
		<-r.Exited()
	}
	_ = c.remove() // a directory of our own in the system's place for such
}

func (c *client) remove() error {
	c.closing.Do(c.results.counters.close)
	return os.RemoveAll(filepath.Dir(c.flows[0].log))
}

// hold starts the programs, waits until they have been making exchanges for a
// while, stops them, and begins to count there.
func (c *client) hold() error {
	if err := c.start(); err != nil {
		return err
	}
	begun := func() bool { return c.results.Counts().Exchanges >= c.tool.begun*int64(len(c.flows)) }
	if err := c.within(beginTimeout, begun); err != nil {
		return err
	}
	later := time.Now().Add(c.tool.ahead)
	if err := c.within(2*c.tool.ahead, func() bool { return time.Now().After(later) }); err != nil {
		return err
	}
	for _, r := range c.running {
		r.Signal(unix.SIGSTOP) // one that has ended is found when the load begins
	}
	time.Sleep(10 * time.Millisecond) // for what is on its way to an end that listens
	c.results.counters.begin()
	return nil
}

const beginTimeout = 10 * time.Second

// within waits until holds returns true. The error says that a program has ended
// before, or that the timeout has passed.
func (c *client) within(timeout time.Duration, holds func() bool) error {
	deadline := time.Now().Add(timeout)
	for !holds() {
		for _, r := range c.running {
			select {
			case <-r.Exited():
				return load.Failure(contract.Peer, fmt.Errorf("%s ended before it was ready: %s", c.path, c.exitReason(r)))
			default:
			}
		}
		if time.Now().After(deadline) {
			return load.Failure(contract.Timeout, fmt.Errorf("%s has made no exchanges after %v; it said: %s", c.tool.name, timeout, c.running[0].Output()))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
