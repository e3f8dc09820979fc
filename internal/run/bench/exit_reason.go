package bench

import (
	"fmt"
	"path/filepath"
	"strings"

	"netdyno/internal/run/rig"
)

// at says where it was that something happened; nothing on this host itself.
func at(p rig.Place, text string) string {
	if len(p.Prefix) == 0 {
		return text
	}
	return p.Name + ": " + text
}

// obituary tells how a worker ended that nobody had asked to. The meter's last
// word is how its worker did. Without it the meter itself has ended, or what
// reaches it, and what is on the other side of that is unknown.
func (c *conversation) obituary(launched rig.Exit) string {
	c.mu.Lock()
	told := c.worker.Exit
	c.mu.Unlock()
	who, code, signal, guess := "the worker", launched.Code, launched.Signal, ""
	switch {
	case told != nil:
		code, signal = told.Code, told.Signal
	case len(c.place.Prefix) > 0:
		who = filepath.Base(c.place.Prefix[0])
		guess = " before the meter told how the worker did: the connection is gone, or the meter was killed"
	default:
		who = "the worker's meter"
	}
	status := fmt.Sprintf("status %d", code)
	if signal != "" {
		status += ", " + signal
	}
	if launched.Running {
		status = "its stdout alone"
	}
	return fmt.Sprintf("%s ended (%s)%s; it said on stderr: %s", who, status, guess, orNothing(strings.TrimSpace(c.process.Stderr())))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
