package tool

import (
	"errors"
	"strconv"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
)

// client runs one process for each server. These programs send as soon as they
// have connected, so the client starts them with the load. A program that takes
// long to begin is started before, and stopped until the load starts (hold.go).
type client struct {
	tool    tool
	argv    [][]string // by flow
	flows   []flow
	ready   contract.Ready
	results *results

	mu      sync.Mutex
	running []*running // by flow, as far as they have been started
	closed  bool
}

// running is a process under way.
type running struct {
	*child.Process
	stdout *capture
}

// start launches every program.
func (c *client) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("closed before it began")
	}
	for _, argv := range c.argv {
		r := &running{stdout: &capture{}}
		var err error
		if r.Process, err = child.Launch(argv, r.stdout); err != nil {
			return load.Failure(contract.SetupFailed, err)
		}
		c.running = append(c.running, r)
		c.results.counters.follow(r.PID())
	}
	return nil
}

// exitReason describes why a program has ended.
func (c *client) exitReason(r *running) string {
	if c.tool.failure != nil {
		if text := c.tool.failure(r.stdout.text); text != "" {
			return r.ExitReasonWith(strconv.Quote(text))
		}
	}
	return r.ExitReason()
}
