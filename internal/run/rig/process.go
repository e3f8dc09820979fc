// Package rig launches workers on seats and holds the conversation with them, and
// finds out what their hosts are.
package rig

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/procstat"
	"netdyno/internal/run/ended"
)

const (
	// MaxUnread bounds the messages that wait for the bench. A worker sends
	// five ticks a second; ten thousand unread ones are a flood, not a queue.
	MaxUnread = 10_000

	// sendTimeout is how long a worker may leave its stdin unread. The pipe
	// holds 64 KiB before it counts at all.
	sendTimeout = 2 * time.Second

	// pipeLinger is how long the pipes are read on after the process ended:
	// what is in them is read at once, and a descendant that escaped the
	// process group must not hold them open for ever.
	pipeLinger = 500 * time.Millisecond
)

// ErrFlood ends the messages of a worker that sends faster than it is read.
var ErrFlood = fmt.Errorf("flood: more than %d messages wait unread; "+
	"a worker sends one tick per 200 ms and answers what it is asked (CONTRACT.md, section tick)", MaxUnread)

// Options of a process.
type Options struct {
	Env []string // added to our own environment, "KEY=value"
	Dir string   // working directory; empty for ours

	// DeathSignal is what the kernel sends the process when we die; 0 is SIGKILL.
	// A meter needs a signal that can be caught, to end its worker's processes
	// first.
	DeathSignal syscall.Signal
}

// Received is one message from a worker, or the error that ended its stream:
// a *contract.LineError, ErrFlood or a read error.
type Received struct {
	Message contract.Message
	Err     error
}

// Exit says how a process ended.
type Exit struct {
	Code    int    // exit status; 128 + signal number for a signal; -1 while running
	Signal  string // "killed", "segmentation fault", …; empty when it ended by itself
	Running bool   // it had not ended when the wait did
}

// Process is one launched worker, bare or under the meter, and the conversation
// with it. It runs in its own process group, which is killed when the process
// ends, and the kernel kills it when we die. Every method may be called from any
// goroutine. Whoever starts a Process must end it: CloseInput or Kill, then Wait.
type Process struct {
	cmd      *exec.Cmd
	stdin    *os.File
	stdout   *os.File
	stderr   *os.File
	messages chan Received
	tail     Tail
	ended    chan struct{} // the process is reaped and its pipes are read to their end

	sending sync.Mutex // keeps messages whole on stdin

	life sync.Mutex // guards gone and, by that, the meaning of the process id
	gone bool
	exit Exit
}

// Start launches argv, whose first element is the path of an executable.
func Start(argv []string, opt Options) (*Process, error) {
	if len(argv) == 0 {
		return nil, errors.New("start worker: no command given")
	}
	p := &Process{
		cmd:      exec.Command(argv[0], argv[1:]...),
		messages: make(chan Received, MaxUnread+1),
		ended:    make(chan struct{}),
	}
	p.cmd.Env = append(os.Environ(), opt.Env...)
	p.cmd.Dir = opt.Dir
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: cmp.Or(opt.DeathSignal, syscall.SIGKILL)}

	theirs, err := p.pipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	started := make(chan error)
	go p.live(started)
	err = <-started
	closeAll(theirs)
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return p, nil
}

// pipes connects the command to fresh pipes and returns the child's ends.
// Pipes of our own, unlike exec's, take deadlines and are not waited for.
func (p *Process) pipes() (theirs []*os.File, err error) {
	var all []*os.File
	pair := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				all = append(all, r, w)
			}
		}
		return r, w
	}
	inR, inW := pair()
	outR, outW := pair()
	errR, errW := pair()
	if err != nil {
		closeAll(all)
		return nil, err
	}
	p.stdin, p.stdout, p.stderr = inW, outR, errR
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	return []*os.File{inR, outW, errW}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing is buffered in a pipe's end
	}
}

// live spends the process's whole life on one thread: Pdeathsig fires when the
// thread that forked ends, and Go ends threads at its own discretion.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(p.pump)
	pumps.Go(func() { _, _ = io.Copy(&p.tail, p.stderr) }) // ends with the pipe, however that ends
	started <- nil

	p.reap()
	linger := time.Now().Add(pipeLinger)
	_ = p.stdout.SetReadDeadline(linger) // a pipe takes deadlines
	_ = p.stderr.SetReadDeadline(linger)
	pumps.Wait()
	p.CloseInput()
	closeAll([]*os.File{p.stdout, p.stderr})
	close(p.ended)
}

// reap waits for the process, kills what it left in its group and records how
// it ended. The group dies before the reaping frees the process id for others.
func (p *Process) reap() {
	pid := p.cmd.Process.Pid
	ended.Await(pid)
	p.life.Lock()
	defer p.life.Unlock()
	_ = syscall.Kill(-pid, syscall.SIGKILL) // an empty group is the usual case
	_ = p.cmd.Wait()                        // its verdict is in ProcessState
	p.gone = true
	p.exit = Exit{Code: p.cmd.ProcessState.ExitCode()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.exit = Exit{Code: 128 + int(status.Signal()), Signal: status.Signal().String()}
	}
}

// pump moves messages from the pipe to the channel. A full channel is an
// error, never a wait; after an error lines are read and dropped, so that the
// worker cannot be stuck in a write.
func (p *Process) pump() {
	defer close(p.messages)
	reader := contract.NewReader(p.stdout)
	for {
		m, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err == nil && len(p.messages) == MaxUnread:
			err = ErrFlood
		}
		p.messages <- Received{m, err} // the last place is kept for the error
		if err != nil {
			_, _ = io.Copy(io.Discard, p.stdout)
			return
		}
	}
}

// Send writes one message to the worker's stdin. The error is a worker that has ended, or
// one that leaves its stdin unread for two seconds.
func (p *Process) Send(m contract.Message) error {
	return p.writeStdin(m.Name(), func(w io.Writer) error { return contract.NewWriter(w).Write(m) })
}

// SendRaw writes bytes as they are, for those who test how a worker takes them.
func (p *Process) SendRaw(b []byte) error {
	return p.writeStdin("raw bytes", func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func (p *Process) writeStdin(what string, write func(io.Writer) error) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	_ = p.stdin.SetWriteDeadline(time.Now().Add(sendTimeout)) // a closed pipe says so in the write
	err := write(p.stdin)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("send %s: the worker has not read its stdin for %v: %w", what, sendTimeout, err)
	}
	if err != nil {
		return fmt.Errorf("send %s: %w", what, err)
	}
	return nil
}

// Messages delivers what the worker says, in order, and is closed at the end
// of its stdout or after an error.
func (p *Process) Messages() <-chan Received { return p.messages }

// CloseInput closes the worker's stdin, which asks it to end. Closing twice is fine.
// It ends a Send that is stuck.
func (p *Process) CloseInput() { _ = p.stdin.Close() } // the second close errs, and nothing is lost by it

// Stderr returns the last 4 KiB of what the worker wrote to its stderr, after a
// line that says how many bytes before them were dropped.
func (p *Process) Stderr() string { return p.tail.String() }

// Wait waits until the process has ended and everything it said is in Messages,
// but no longer than the timeout. It kills nothing by itself.
func (p *Process) Wait(timeout time.Duration) Exit {
	select {
	case <-p.ended:
		return p.exit
	case <-time.After(timeout):
		return Exit{Code: -1, Running: true}
	}
}

// Kill kills the process and its group at once. Killing what is gone is fine.
func (p *Process) Kill() {
	p.life.Lock()
	defer p.life.Unlock()
	if !p.gone {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may be ending by itself
	}
}

// Stopped reports whether a signal has stopped the process itself: the meter, or what
// reaches it.
func (p *Process) Stopped() bool {
	return p.stat().State() == 'T'
}

// CPUTime returns how long the process itself has computed, on all its threads; 0 when it
// has ended.
func (p *Process) CPUTime() time.Duration {
	const tick = 10 * time.Millisecond // Linux shows every time in USER_HZ
	s := p.stat()
	return time.Duration(s.Number(procstat.User)+s.Number(procstat.System)) * tick
}

func (p *Process) stat() procstat.Stat { return procstat.Of(p.cmd.Process.Pid) }

// maxLine bounds the first line of a command, in bytes.
const maxLine = 64 << 10

// FirstLine reads what a command says first, without the spaces around it. When
// the context ends before it has said a line, its cause is the error, and the
// reading goes on until the command does not hold from any more. It may read
// more than the line.
func FirstLine(ctx context.Context, from io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReaderSize(from, maxLine).ReadSlice('\n')
		answered <- answer{strings.TrimSpace(string(line)), err}
	}()
	select {
	case a := <-answered:
		return a.line, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// keepStderr is how much of a process's stderr is kept, in bytes.
const keepStderr = 4 << 10

// Tail is a Writer that keeps the last of what a process says, for an error or
// a record. Any goroutine may use it.
type Tail struct {
	mu      sync.Mutex
	kept    []byte
	dropped int64
}

// Write keeps the end of b and never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - keepStderr; over > 0 {
		t.dropped += int64(over)
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// String returns what was kept, after a line saying how much was not.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped == 0 {
		return string(t.kept)
	}
	return fmt.Sprintf("[%d bytes dropped]\n%s", t.dropped, t.kept)
}

// StartTied starts a command that the kernel ends by a signal, if any, when this process is
// gone, in a process group of its own, and closes ended when it has ended and
// been waited for; its ProcessState says how.
func StartTied(c *exec.Cmd, death syscall.Signal) (ended <-chan struct{}, err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
	c.WaitDelay = pipeLinger // a child of it must not hold its pipes open for ever
	started, over := make(chan error), make(chan struct{})
	go func() {
		if death != 0 {
			// Pdeathsig fires when the thread that forked ends, and Go ends threads at
			// its own discretion: this one lives as long as the process.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
		}
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait() // ProcessState has its verdict
		}
		close(over)
	}()
	return over, <-started
}
