// Package floor measures what an exchange costs on a path although nothing is done for it:
// the wake-ups of two sleeping ends and their sends. A server and a client of a few lines,
// with blocking sockets, sit where the workers of trials do; the server computes for as long
// as each message says, and answers.
//
//	netdyno internal floor serve ADDRESS CLIENT    (Serve, on the server's seat)
//	netdyno internal floor ask SERVER SOURCE       (Ask, on a client's)
//
// It costs a third of a second for a path. How long the ends have slept matters as much as
// that they did: an idle CPU polls a while, and sleeps deeper then. So the server's time is
// varied, and readers look up what belongs to the time that they saw.
package floor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
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

// Measure measures a path by netdyno, a file of this host. It leaves no process behind.
func Measure(ctx context.Context, netdyno string, p Path) (f record.Floor, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("not done within %v", bound))
	defer cancel()
	f = record.Floor{Server: p.Server.Name, Client: p.Client.Name, ServerCPUs: p.Server.CPUs, ClientCPUs: p.Client.CPUs}
	source := p.Client.Address
	address, server, err := serve(ctx, p.Server, netdyno, source)
	if err != nil {
		return f, err
	}
	argv := append([]string{netdyno, "internal", "floor", "ask", address, source}, pinned(p.Client)...)
	out, err := p.Client.Ask(ctx, nil, argv...)
	if err != nil {
		cancel() // nobody will come
		return f, errors.Join(err, server())
	}
	if err := server(); err != nil {
		return f, err
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

// serve starts a server on its seat and returns where it listens, and what waits for its end.
func serve(ctx context.Context, seat rig.Seat, netdyno, client string) (address string, wait func() error, err error) {
	argv := append([]string{netdyno, "internal", "floor", "serve", seat.Address, client}, pinned(seat)...)
	line := seat.Command(argv...)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = timeout
	var said rig.Tail
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", nil, fmt.Errorf("start a server on %s: %w", seat.Name, err)
	}
	wait = func() error {
		if err := c.Wait(); err != nil {
			return fmt.Errorf("the server on %s: %w: %s", seat.Name, err, strings.TrimSpace(said.String()))
		}
		return nil
	}
	first, err := bufio.NewReader(io.LimitReader(out, 256)).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the server on %s named no address: %w", seat.Name, err), wait())
	}
	return strings.TrimSpace(first), wait, nil
}
