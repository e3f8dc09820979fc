package tool

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
)

// client runs one process for each server. These programs send as soon as they
// have connected, so the client starts them with the load. A program that takes
// long to begin is started before, and stopped until the load starts (client.go).
type client struct {
	tool    tool
	path    string        // of its program
	runs    time.Duration // that it is told to run; 0: until it is interrupted
	argv    [][]string    // by flow
	flows   []flow
	ready   contract.Ready
	results *results

	mu      sync.Mutex
	running []*running // by flow, as far as they have been started
	closed  bool
	until   time.Time // when a program will have ended by itself that was told for how long to run
	closing sync.Once
}

// running is a process under way.
type running struct {
	*child.Process
	stdout, stderr *capture
}

// start launches every program.
func (c *client) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("closed before it began")
	}
	for _, argv := range c.argv {
		r := &running{stdout: &capture{}, stderr: &capture{}}
		var err error
		if c.tool.user != nil || c.tool.stderr {
			r.Process, err = child.LaunchRead(argv, r.stdout, r.stderr)
		} else {
			r.Process, err = child.Launch(argv, r.stdout)
		}
		if err != nil {
			return load.Failure(contract.SetupFailed, err)
		}
		c.running = append(c.running, r)
		c.results.counters.follow(r.PID())
	}
	if c.runs > 0 {
		c.until = time.Now().Add(c.runs + runsLate)
		if c.tool.fixed {
			c.until = c.until.Add(reportLate)
		}
	}
	return nil
}

// runsLate is how much later than it was told a program may end before it is
// interrupted: it starts, and it waits for its last replies.
const runsLate = 700 * time.Millisecond

// reportLate is how much later one may end that would be ended before its report.
const reportLate = 500 * time.Millisecond

// awaitOwnEnd waits, after the load, for programs that were told for how long to run.
func (c *client) awaitOwnEnd() {
	timeout := time.After(time.Until(c.until))
	for _, r := range c.running {
		select {
		case <-r.Exited():
		case <-timeout:
			return
		}
	}
}

// checkTotals completes the sums of programs that say how many exchanges they made, and
// compares both.
func (c *client) checkTotals(own selfReport) error {
	if c.tool.user == nil {
		return nil
	}
	c.results.counters.settle()
	total, x := c.results.Counts(), c.results.exchange
	up, down := x.Streamed()
	least := int64(leastShare * float64(own.exchanges))
	switch {
	case total.SentBytes+total.ReceivedBytes == 0:
		return fmt.Errorf("the kernel saw no TCP connection from %s to a server of the trial: it must connect by itself, to {server} of its command line", c.tool.name)
	case total.ReceivedBytes < least*down:
		return fmt.Errorf("%s says that it made %d exchanges, but the kernel saw it receive %d bytes, less than %d for each (response)", c.tool.name, own.exchanges, total.ReceivedBytes, down)
	case total.SentBytes < least*up:
		return fmt.Errorf("%s says that it made %d exchanges, but the kernel saw it send %d bytes, less than %d for each (request)", c.tool.name, own.exchanges, total.SentBytes, up)
	}
	c.results.setTotal(total)
	return nil
}

// leastShare of the exchanges that a program counts must be seen in its bytes.
const leastShare = 0.99

// exitReason describes why a program has ended.
func (c *client) exitReason(r *running) string {
	if c.tool.failure != nil {
		if text := c.tool.failure(r.stdout.text); text != "" {
			return r.ExitReasonWith(strconv.Quote(text))
		}
	}
	return r.ExitReason()
}

// capture keeps all that is written to it, up to a bound. One goroutine writes
// to it; it is read when the writer has ended.
type capture struct {
	text []byte
	full bool // more was written than is kept
}

const captureBytes = 4 << 20

// Write implements io.Writer and never fails.
func (c *capture) Write(b []byte) (int, error) {
	room := min(len(b), captureBytes-len(c.text))
	c.text = append(c.text, b[:room]...)
	c.full = c.full || room < len(b)
	return len(b), nil
}
