package openssh

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
)

const (
	// connectTimeout bounds a connection over slow hops; hopTimeout is ssh's own
	// bound for each.
	connectTimeout = 60 * time.Second
	hopTimeout     = "10" // s
	checkEvery     = 20 * time.Millisecond
)

// persistent are a master's options. A host that is gone is noticed after
// three unanswered questions: 15 s.
var persistent = []string{
	"-M", "-N", "-T", "-o", "ControlPersist=no", "-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes",
	"-o", "ConnectTimeout=" + hopTimeout, "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
}

// master is one connection: an ssh process that we started and that dies with
// us.
type master struct {
	command *exec.Cmd
	ended   <-chan struct{}
	said    rig.Tail
}

// dial connects and waits until sessions can use the connection.
func dial(ctx context.Context, ssh string, options []string, destination string) (*master, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, fmt.Errorf("no connection within %v", connectTimeout))
	defer cancel()
	argv := slices.Concat(options, persistent, []string{"--", destination})
	m := &master{command: exec.Command(ssh, argv...)}
	m.command.Stderr = &m.said
	var err error
	if m.ended, err = rig.StartTied(m.command, syscall.SIGTERM); err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	for {
		check := exec.CommandContext(ctx, ssh, slices.Concat(options, []string{"-O", "check", "--", destination})...)
		if check.Run() == nil {
			return m, nil
		}
		select {
		case <-m.ended:
			return nil, fmt.Errorf("connect to %s: ssh ended (%v); it said: %s; netdyno never asks for a password: `ssh %s true` must work without one",
				destination, m.command.ProcessState, strings.TrimSpace(m.said.String()), destination)
		case <-ctx.Done():
			m.end()
			return nil, fmt.Errorf("connect to %s: %w; ssh said: %s", destination, context.Cause(ctx), strings.TrimSpace(m.said.String()))
		case <-time.After(checkEvery):
		}
	}
}

// gone tells that the connection has ended by itself.
func (m *master) gone() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// end ends the connection and everything that it carries.
func (m *master) end() {
	const timeout = 2 * time.Second
	if m.gone() {
		return // its process id may be another's by now
	}
	pid := m.command.Process.Pid
	_ = syscall.Kill(-pid, syscall.SIGTERM) // it may have ended by itself
	select {
	case <-m.ended:
	case <-time.After(timeout):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		<-m.ended
	}
}
