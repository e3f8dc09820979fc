// Package meter runs one worker and adds to its conversation what the kernel
// knows of its process tree and of its host. One meter serves every language
// and every foreign program.
//
//	bench ──stdin──▶ down ──▶ worker's stdin
//	bench ◀─stdout── up  ◀── worker's stdout     ready, mark, result + "meter"
//	                 watch: deadline, memory, signals, the end of either side
//
// Nothing that the worker started outlives Run: the meter is the subreaper of
// its descendants and kills them from the top. Only a SIGKILL of the meter
// itself can leave grandchildren behind; the worker dies even then.
package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// The reasons of contract.Exit for a worker that the meter killed.
const (
	StdinClosed = "stdin closed" // it did not exit in time after the bench's end
	Deadline    = "deadline"
	Memory      = "memory"
	Interrupted = "interrupted" // a signal to the meter, and it did not exit in time
	Invalid     = "invalid"     // it broke the contract; an error message said how
	BenchGone   = "bench gone"  // nobody takes its messages
	LeaseEnded  = "lease ended" // nobody has renewed it
)

const (
	grace          = 2 * time.Second        // from the end of stdin to the kill: the contract's promise
	killTimeout    = 5 * time.Second        // for the kernel to end what was killed
	drainTimeout   = 2 * time.Second        // for the bench to take what was said before a kill
	memoryInterval = 100 * time.Millisecond // a tree can pass its limit by what it allocates in this time
)

// The exit codes of a worker that could not be started, as shells have them.
const (
	codeCannotRun = 126
	codeNotFound  = 127
)

// LeaveNoCore keeps what this process and those that it starts hold out of the files that the
// kernel writes of a crash. A program that is started may raise the limit again.
func LeaveNoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // to lower it is always allowed
	}
}

// Options say what to run and within which bounds.
type Options struct {
	Argv        []string      // the worker; Argv[0] is looked up on PATH
	CPUs        []int         // the CPUs of the worker and the meter; empty leaves them as they are
	Roam        []int         // CPUs that the worker changes to and back, at random times; empty for none
	Deadline    time.Duration // from the start to the kill; 0 is none
	MemoryBytes int64         // resident memory of the tree, looked at every 100 ms; 0 is no limit

	In  io.Reader // commands; its end means: stop
	Out io.Writer // messages, one whole line per Write
	Err io.Writer // the worker's stderr and the meter's own remarks; a file is handed to the worker itself
}

// Run runs one worker to its end and returns its exit code, 128 + n when
// signal n ended it, or 126 or 127 when it could not be started. The last line
// on Out is contract.Exit. The error is the meter's own: a worker that does not
// start, CPUs that do not exist, descendants that cannot be killed.
//
// Run takes the process over: it sets the CPU affinity of every thread when
// CPUs is not empty, becomes a child subreaper, waits for any child and catches
// SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGPIPE. A process should call it once. A read of
// In that SetReadDeadline cannot interrupt outlives Run.
func Run(ctx context.Context, o Options) (exitCode int, err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE, unix.SIGCHLD)
	defer signal.Stop(signals)
	// The worker dies with the thread that started it (PR_SET_PDEATHSIG), so
	// that thread stays here to the end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// With as many as the CPUs, one by default, a beat would wait for what another thread of the
	// meter holds while that waits for a CPU: the arm's load would look like a standstill.
	runtime.GOMAXPROCS(max(8, runtime.GOMAXPROCS(0)))

	if _, isFile := o.Err.(*os.File); !isFile {
		o.Err = &sharedWriter{w: o.Err}
	}
	out := contract.NewWriter(o.Out)
	s, err := start(o)
	if err != nil {
		code := codeCannotRun
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			code = codeNotFound
		}
		// When nobody reads these, the exit code still tells.
		_ = out.Write(contract.Message{Error: &contract.Error{Kind: contract.SetupFailed, Text: err.Error(), Fatal: true}})
		_ = out.Write(contract.Message{Exit: &contract.Exit{Code: code}})
		return code, err
	}
	s.converse(o)
	stay := s.roam(o)
	first := s.watch(ctx, o, signals)
	stay()
	exit, err := s.finish(o)
	if !s.upEnded {
		return exit.Code, errors.Join(err, fmt.Errorf("write exit: the bench took nothing for %s", drainTimeout))
	}
	if first.fault != nil {
		_ = out.Write(contract.Message{Error: first.fault}) // the next write tells when nobody is there
	}
	if writeErr := out.Write(contract.Message{Exit: &exit}); err == nil && first.reason != BenchGone {
		err = writeErr
	}
	return exit.Code, err
}
