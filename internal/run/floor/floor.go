// Package floor measures what an exchange costs on a path although nothing is done for it:
// the wake-ups of two sleeping ends and their sends. A server and a client of a few lines,
// with blocking sockets, sit where the workers of trials do; the server computes for as long
// as each message says, and answers.
//
//	netdyno-host floor serve ADDRESS CLIENT    (Serve, on the server's seat)
//	netdyno-host floor ask SERVER SOURCE       (Ask, on a client's)
//
// It costs a third of a second for a path. How long the ends have slept matters as much as
// that they did: an idle CPU polls a while, and sleeps deeper then. So the server's time is
// varied, and readers look up what belongs to the time that they saw.
package floor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
)

const (
	// timeout is how long either end waits for the other before it gives up.
	timeout = 2 * time.Second
	// bound is what a measurement may take, the start of its processes included.
	bound = 10 * time.Second
)

// Path is where the ends sit. CPUs are as in rig.Seat.
type Path struct {
	Server, Client rig.Seat
}

// Measure measures a path by program, the file of netdyno-host. It leaves no process behind.
func Measure(ctx context.Context, program string, p Path) (f record.Floor, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("not done within %v", bound))
	defer cancel()
	f = record.Floor{Server: p.Server.Name, Client: p.Client.Name, ServerCPUs: p.Server.CPUs, ClientCPUs: p.Client.CPUs}
	source := p.Client.Address
	argv := append([]string{program, "floor", "serve", p.Server.Address, source}, pinned(p.Server)...)
	server, err := rig.Hold(ctx, bound, syscall.SIGKILL, p.Server.Command(argv...)...)
	if err != nil {
		return f, fmt.Errorf("the server on %s: %w", p.Server.Name, err)
	}
	argv = append([]string{program, "floor", "ask", server.Line, source}, pinned(p.Client)...)
	out, err := p.Client.Ask(ctx, nil, argv...)
	if err != nil {
		return f, errors.Join(err, server.Drop()) // nobody will come
	}
	if err := errors.Join(server.Release(), server.Unclean()); err != nil {
		return f, fmt.Errorf("the server on %s: %w", p.Server.Name, err)
	}
	if err := json.Unmarshal(out, &f.Steps); err != nil {
		return f, fmt.Errorf("read what %s measured: %w", p.Client.Name, err)
	}
	return f, nil
}

func pinned(s rig.Seat) []string {
	if len(s.CPUs) == 0 {
		return nil
	}
	return []string{"--cpus", cpuset.Format(s.CPUs)}
}
