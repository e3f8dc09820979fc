package meter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
)

// start sets the process up and starts the worker.
func start(o Options) (*session, error) {
	if len(o.Argv) == 0 {
		return nil, errors.New("start worker: no command line was given after --")
	}
	if err := cpuset.PinSelf(o.CPUs); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start worker %s: %w", o.Argv[0], err)
	}
	defer stdinRead.Close()
	stdout, stdoutWrite, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, fmt.Errorf("start worker %s: %w", o.Argv[0], err)
	}
	defer stdoutWrite.Close()

	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdinRead, stdoutWrite, o.Err
	cmd.WaitDelay = drainTimeout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		stdin.Close()
		stdout.Close()
		return nil, fmt.Errorf("start worker %s: %w", o.Argv[0], err)
	}
	return newSession(cmd, stdin, stdout, o.Out)
}

// sharedWriter serialises the worker's stderr and the meter's remarks.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return len(text), nil
	}
	return s.w.Write(text)
}
