package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

const (
	// maxAnswer bounds in bytes what a command at a host may print.
	maxAnswer = 1 << 20
	// askTimeout is for what takes a fraction of a second on a healthy host.
	askTimeout = 20 * time.Second
)

// Ask runs a command at the host and returns what it printed. The error tells
// what it said on stderr. Input may be nil. It takes at most 20 s, or as long
// as a deadline of ctx says.
func (h Host) Ask(ctx context.Context, input io.Reader, argv ...string) ([]byte, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, askTimeout, fmt.Errorf("no answer within %v", askTimeout))
		defer cancel()
	}
	line := h.Command(argv...)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	var said Tail
	out := limited{left: maxAnswer}
	c.Stdin, c.Stdout, c.Stderr = input, &out, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = pipeLinger
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.left < 0: // the command has been told by a broken pipe
		err = fmt.Errorf("it printed more than %d bytes", maxAnswer)
	}
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = fmt.Errorf("%w; it said: %s", err, text)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s on %s: %w", argv[0], h.Name, err)
	}
	return out.kept.Bytes(), nil
}

// limited keeps what is written up to a bound, and fails beyond it.
type limited struct {
	kept bytes.Buffer // not embedded: its ReadFrom would pass the bound by
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.kept.Write(b)
}

// Survey asks netdyno-host, by its file on this host, for the facts of every host, all
// at once. The hosts come back with what they did not know of themselves:
// their CPUs and their machine. More arguments ask for more than the usual facts.
func Survey(ctx context.Context, hosts []Host, program string, more ...string) ([]Host, map[string]record.Host, error) {
	found := make([]Host, len(hosts))
	facts := make([]record.Host, len(hosts))
	failures := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() {
			facts[i], failures[i] = h.facts(ctx, program, more)
			found[i] = h.Known(facts[i])
		})
	}
	wait.Wait()
	byName := map[string]record.Host{}
	for i, h := range hosts {
		byName[h.Name] = facts[i]
	}
	return found, byName, errors.Join(failures...)
}

// Timed adds the moment to a host's facts, for who asks to compare clocks.
func Timed(h record.Host) record.Host {
	h.Values[record.ClockFact] = strconv.FormatInt(time.Now().UnixNano(), 10)
	return h
}

func (h Host) facts(ctx context.Context, program string, more []string) (record.Host, error) {
	asked := time.Now()
	out, err := h.Ask(ctx, nil, append([]string{program, "facts"}, more...)...)
	answered := time.Now()
	if err != nil {
		return record.Host{}, err
	}
	host := record.Host{Values: map[string]string{}}
	if err := json.Unmarshal(out, &host.Values); err != nil {
		return host, fmt.Errorf("facts of %s: %w", h.Name, err)
	}
	if ns, err := strconv.ParseInt(host.Values[record.ClockFact], 10, 64); err == nil {
		host.Values[record.OffsetFact] = offset(asked, answered, time.Unix(0, ns))
	}
	delete(host.Values, record.ClockFact)
	host.Values[record.AddressFact] = h.Address
	return host, nil
}

// offset writes how far a clock is ahead of ours that was read somewhere
// between two moments, with the bound of the error: "+1.2ms ±3ms".
func offset(asked, answered, there time.Time) string {
	half := answered.Sub(asked) / 2
	ahead := there.Sub(asked.Add(half))
	sign := "+"
	if ahead < 0 {
		sign = ""
	}
	return fmt.Sprintf("%s%v ±%v", sign, ahead.Round(10*time.Microsecond), half.Round(10*time.Microsecond))
}

// Known is the host with what its facts tell that it did not know of itself: its CPUs and its
// machine.
func (h Host) Known(facts record.Host) Host {
	if usable, err := cpuset.Parse(facts.Values["cpu.usable"]); err == nil && len(h.CPUs) == 0 {
		h.CPUs = usable
	}
	if h.BootID == "" {
		h.BootID = facts.Values["host.boot_id"]
	}
	return h
}
