package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	releaseTimeout = 10 * time.Second // for a first process to end
	removeTimeout  = time.Minute      // for everything to be removed
)

// Remover is a shell that removes what a rig made, at the end of the rig or of this process,
// however that ends. No signal that is meant for this process ends it.
type Remover struct {
	// Hold is its stdin, whose end it waits for: a command that makes something gets it too,
	// so that nothing is removed before it is made.
	Hold *os.File

	command *exec.Cmd
	left    strings.Builder
	said    Tail
}

// StartRemover starts a shell that will run a script with arguments. What the script prints is
// what it could not remove, a line each.
func StartRemover(script string, arguments ...string) (*Remover, error) {
	const wait = "trap '' HUP INT TERM PIPE\ncat >/dev/null\n"
	r := &Remover{command: exec.Command("sh", append([]string{"-c", wait + script, "sh"}, arguments...)...)}
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.command.Stdout, r.command.Stderr = &r.left, &r.said
	r.command.WaitDelay = time.Second
	theirs, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.command.Stdin, r.Hold = theirs, hold
	err = r.command.Start()
	_ = theirs.Close() // nothing is buffered in it
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start what removes the rig: %w", err), hold.Close())
	}
	return r, nil
}

// Remove removes everything; the error names what is left of it.
func (r *Remover) Remove() error {
	_ = r.Hold.Close() // it may have been killed
	kill := time.AfterFunc(removeTimeout, func() { _ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL) })
	err := r.command.Wait()
	kill.Stop()
	if left := strings.TrimSpace(r.left.String()); left != "" {
		err = errors.Join(err, errors.New("still there: "+strings.ReplaceAll(left, "\n", ", ")))
	}
	if err != nil {
		return fmt.Errorf("remove what the rig made: %w %s", err, strings.TrimSpace(r.said.String()))
	}
	return nil
}

// Held is a command that stands for something elsewhere, such as the first process of a
// container: it lives as long as its stdin, which ends with this process, however this process
// ends. One goroutine at a time may use it.
type Held struct {
	Line string // that it said first

	command *exec.Cmd
	input   io.WriteCloser
	output  *os.File
	ended   <-chan struct{}
	said    Tail
}

// Hold starts a command and waits for its first line: a cat(1) repeats the one that it is
// given. The kernel sends the command the signal when this process is gone; 0 for none, where
// the command must see the end of its stdin. The error of one that ended has its status as an
// exec.ExitError.
func Hold(ctx context.Context, timeout time.Duration, death syscall.Signal, argv ...string) (*Held, error) {
	h := &Held{command: exec.Command(argv[0], argv[1:]...)}
	h.command.Stderr = &h.said
	in, err := h.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe() // exec's own would be closed with the command's end, unread
	if err != nil {
		return nil, err
	}
	h.input, h.output, h.command.Stdout = in, out, theirs
	h.ended, err = StartTied(h.command, death)
	_ = theirs.Close() // nothing is buffered in it
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	if _, err = h.input.Write([]byte("here\n")); err == nil || errors.Is(err, syscall.EPIPE) { // it may have spoken before it ended
		h.Line, err = FirstLine(ctx, out)
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		return nil, errors.Join(h.failure(err), h.Release())
	}
	return h, nil
}

var errEnded = errors.New("its first process has ended")

// Err says that the process has ended, and what was said of that; nil while it lives.
func (h *Held) Err() error {
	select {
	case <-h.ended:
		return h.failure(errEnded)
	default:
		return nil
	}
}

// failure adds to an error what the command said, once that is known.
func (h *Held) failure(err error) error {
	select {
	case <-h.ended:
		err = fmt.Errorf("%w (%w)", err, &exec.ExitError{ProcessState: h.command.ProcessState})
	case <-time.After(time.Second):
	}
	if text := strings.TrimSpace(h.said.String()); text != "" {
		err = fmt.Errorf("%w; it said: %s", err, text)
	}
	return err
}

// Release ends the process, and waits for the command.
func (h *Held) Release() error { return h.release(releaseTimeout) }

// Drop ends a process at once that cannot be asked to end.
func (h *Held) Drop() error { return h.release(0) }

func (h *Held) release(timeout time.Duration) error {
	_ = h.input.Close() // the command may have ended
	select {
	case <-h.ended:
	case <-time.After(timeout):
		_ = syscall.Kill(-h.command.Process.Pid, syscall.SIGKILL) // what it runs is for the remover
		<-h.ended
	}
	return h.output.Close()
}

// Unclean says how a command ended that was released and did not end well; nil for one that did.
func (h *Held) Unclean() error {
	if h.command.ProcessState.Success() {
		return nil
	}
	return h.failure(errEnded)
}
