package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/ended"
	"netdyno/internal/run/meter/usage"
)

// session is one worker from its start to its end.
type session struct {
	cmd     *exec.Cmd
	stdin   *os.File
	stdout  *os.File
	orphans *orphans
	tree    usage.Tree    // of the goroutine that watches, as is
	memory  *usage.Reader // this one
	reader  *usage.Reader // of the goroutine that carries messages up

	down    *down
	sampler *sampler
	died    chan struct{} // closed when the worker is a zombie
	upDone  chan struct{}
	endings chan ending
	upEnded bool
	out     io.Writer // to the bench, whole lines from several goroutines
	oom     oomCount  // when the worker began
	fromNs  int64     // when the worker was started
	left    []int     // descendants that did not die
	reason  string    // why the worker was killed
	stopped bool      // the bench was told
}

// ending is a reason for the worker to end. The first one counts.
type ending struct {
	reason string
	fault  *contract.Error // for the bench; nil when it knows
}

// gentle says that the worker is first asked, by the end of its stdin.
func (e ending) gentle() bool { return e.reason == StdinClosed || e.reason == Interrupted }

// broken is the ending of a worker, or a bench, that broke the contract.
func broken(err error) ending {
	return ending{Invalid, &contract.Error{Kind: contract.Invalid, Text: err.Error(), Fatal: true}}
}

func newSession(cmd *exec.Cmd, stdin, stdout *os.File, out io.Writer) (*session, error) {
	s := &session{
		cmd: cmd, stdin: stdin, stdout: stdout, out: &sharedWriter{w: out}, oom: readOOM(),
		orphans: &orphans{worker: cmd.Process.Pid},
		died:    make(chan struct{}), upDone: make(chan struct{}), endings: make(chan ending, 3),
	}
	var err error
	if s.reader, err = usage.NewReader(cmd.Process.Pid); err == nil {
		s.memory, err = usage.NewReader(cmd.Process.Pid)
	}
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait(), stdin.Close(), stdout.Close())
	}
	return s, nil
}

// converse starts the goroutines that carry the conversation and the one that
// waits for the worker's death. It leaves the zombie to finish.
func (s *session) converse(o Options) {
	passed, tcp, udp := new(marks), new(connections), new(datagrams)
	begun := new(startUp)
	begun.fromNs.Store(s.fromNs)
	s.sampler = &sampler{start: s.orphans.startTool}
	s.down = newDown(s.stdin, passed, tcp, udp)
	s.down.begun = begun
	s.down.profile = func() { s.sampler.wanted.Store(true) }
	look := &examiner{worker: s.cmd.Process.Pid, orphans: s.orphans, tcp: tcp, waiting: s.down.waiting.Load}
	s.down.examine = func() { s.tell(contract.Message{Examined: look.examine()}) }
	s.down.lease = s.leased()
	go func() { s.endings <- s.down.receive(o.In) }()
	go s.down.send()
	go func() {
		defer close(s.upDone)
		u := &up{reader: s.reader, orphans: s.orphans, marks: passed, tcp: tcp, udp: udp, sampler: s.sampler, windowNs: s.down.windowNs.Load, begun: begun, out: s.out, log: o.Err}
		if err := u.pass(s.stdout); errors.Is(err, errGone) {
			s.endings <- ending{reason: BenchGone}
		} else if err != nil {
			s.endings <- broken(err)
		}
	}()
	go func() {
		defer close(s.died)
		ended.Await(s.cmd.Process.Pid)
	}()
}

// leased returns what a lease does, on the goroutine that receives commands: the worker
// ends when it is over.
func (s *session) leased() func(time.Duration) {
	var over *time.Timer
	return func(d time.Duration) {
		if over != nil {
			over.Reset(d)
			return
		}
		over = time.AfterFunc(d, func() {
			select {
			case s.endings <- ending{reason: LeaseEnded}:
			default: // it ends already
			}
		})
	}
}

// watch waits until the worker has ended and all that it said was passed, or
// until the time for either is over. It returns the first ending, if any.
func (s *session) watch(ctx context.Context, o Options, signals <-chan os.Signal) ending {
	var (
		first                   ending
		killed                  bool
		died                    = s.died
		upDone                  = s.upDone
		canceled                = ctx.Done()
		deadline, look, expired <-chan time.Time // nil, which never fires, without a limit
	)
	if o.Deadline > 0 {
		deadline = time.After(o.Deadline)
	}
	if o.MemoryBytes > 0 {
		look = time.Tick(memoryInterval)
	}
	kill := func() {
		s.kill(first.reason)
		killed, expired = true, time.After(drainTimeout)
	}
	for died != nil || upDone != nil {
		var e ending
		select {
		case <-died:
			died = nil
			s.kill("") // what it left behind holds its stdout open
			continue
		case <-upDone:
			upDone, s.upEnded = nil, true
			continue
		case <-expired:
			if killed {
				return first
			}
			kill()
			continue
		case <-look:
			if s.memory.Resident(s.orphans.living(&s.tree)) <= o.MemoryBytes {
				continue
			}
			e.reason = Memory
		case signal := <-signals:
			if signal == unix.SIGCHLD {
				s.orphans.reap(&s.tree)
				s.tellStopped()
			}
			if signal == unix.SIGCHLD || signal == unix.SIGPIPE {
				continue
			}
			e.reason = Interrupted
		case <-canceled:
			canceled = nil
			e.reason = Interrupted
		case <-deadline:
			e.reason = Deadline
		case e = <-s.endings:
		}
		if first.reason == "" {
			first = e
		}
		if e.reason == Interrupted {
			s.stdin.Close()
		}
		switch {
		case killed || e.gentle() && expired != nil:
		case e.gentle() && died != nil && !s.stopped: // what is stopped cannot end by itself
			expired = time.After(grace)
		default:
			kill()
		}
	}
	return first
}

// tellStopped tells the bench, once, that a signal has stopped the worker. The
// bench may take nothing just now, and the watch must go on.
func (s *session) tellStopped() {
	pid := s.cmd.Process.Pid
	by := stopSignal(pid)
	if by == 0 || s.stopped {
		return
	}
	s.stopped = true
	go s.tell(contract.Message{Error: stoppedError("the worker", pid, unix.SignalName(by))})
}

// tell writes a message of the meter's own. A bench that is gone is seen by
// whoever carries the worker's messages.
func (s *session) tell(m contract.Message) { _ = contract.NewWriter(s.out).Write(m) }

// kill kills whatever lives. The reason is kept for a worker that still did.
func (s *session) kill(reason string) {
	select {
	case <-s.died:
	default:
		s.reason = reason
	}
	s.left = s.orphans.killTree(&s.tree, s.died)
}

// finish waits for the zombie and returns its account.
func (s *session) finish(o Options) (contract.Exit, error) {
	close(s.down.quit)
	s.sampler.kill()
	s.stdin.Close()
	s.stdout.Close()
	interrupt(o, s.upEnded)
	if len(s.left) > 0 {
		return contract.Exit{Code: 128 + int(unix.SIGKILL), Signal: unix.SignalName(unix.SIGKILL), Reason: s.reason},
			fmt.Errorf("kill worker: processes %v are still there after %s; kill them as their owner", s.left, killTimeout)
	}
	err := s.cmd.Wait()
	if _, isExit := errors.AsType[*exec.ExitError](err); isExit {
		err = nil
	}
	var used contract.Process
	s.orphans.addTo(&used)
	state := s.cmd.ProcessState
	exit := contract.Exit{
		Code: state.ExitCode(), Reason: s.reason,
		CPUNs: used.CPUNs + int64(state.UserTime()+state.SystemTime()),
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code = 128 + int(status.Signal())
		exit.Signal = unix.SignalName(status.Signal())
	}
	killed := exit.Signal == unix.SignalName(unix.SIGKILL) && exit.Reason == ""
	exit.OutOfMemory = readOOM().since(s.oom, killed)
	return exit, err
}

// interrupt ends a pending read of In and, when the messages were not taken,
// a pending write to Out, where they can be interrupted.
func interrupt(o Options, upEnded bool) {
	past := time.Unix(1, 0)
	if in, ok := o.In.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = in.SetReadDeadline(past) // a file that cannot be polled has no deadline
	}
	if out, ok := o.Out.(interface{ SetWriteDeadline(time.Time) error }); ok && !upEnded {
		_ = out.SetWriteDeadline(past)
	}
}

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
	from := usage.Now()
	if err := cmd.Start(); err != nil {
		stdin.Close()
		stdout.Close()
		return nil, fmt.Errorf("start worker %s: %w", o.Argv[0], err)
	}
	s, err := newSession(cmd, stdin, stdout, o.Out)
	if err == nil {
		s.fromNs = from
	}
	return s, err
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
