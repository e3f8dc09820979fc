package meter

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

// orphans are the worker's descendants whose parents have ended. The meter is their
// subreaper: the kernel makes them the meter's own children, so the meter can count them,
// kill them and wait for them. Any goroutine may use an orphans.
type orphans struct {
	worker int // the meter's one child by birth, but for its tools

	mu    sync.Mutex
	cpu   contract.Process // what those that were waited for have used
	tools map[int]bool     // the meter's own commands, which are no part of the tree
}

// living returns the orphans that have not been waited for.
func (o *orphans) living(t *usage.Tree) []int {
	children := t.Children(os.Getpid())
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(children, func(pid int) bool { return pid == o.worker || o.tools[pid] })
}

// startTool starts a command of the meter's own. Whoever starts it waits for it.
func (o *orphans) startTool(c *exec.Cmd) error {
	o.mu.Lock() // nobody may take it for an orphan before it is known
	defer o.mu.Unlock()
	if err := c.Start(); err != nil {
		return err
	}
	if o.tools == nil {
		o.tools = map[int]bool{}
	}
	o.tools[c.Process.Pid] = true
	return nil
}

// reap waits for the orphans that have ended and keeps their CPU time. It returns the
// orphans that remain.
func (o *orphans) reap(t *usage.Tree) []int {
	return slices.DeleteFunc(o.living(t), func(pid int) bool {
		var status unix.WaitStatus
		var usage unix.Rusage
		got, err := unix.Wait4(pid, &status, unix.WNOHANG, &usage)
		if err == nil && got == pid {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.cpu.UserNs += usage.Utime.Nano()
			o.cpu.SystemNs += usage.Stime.Nano()
			o.cpu.VoluntarySwitches += usage.Nvcsw
			o.cpu.InvoluntarySwitches += usage.Nivcsw
			return true
		}
		return errors.Is(err, unix.ECHILD)
	})
}

// addTo adds what the ended orphans have used.
func (o *orphans) addTo(p *contract.Process) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p.CPUNs += o.cpu.UserNs + o.cpu.SystemNs
	p.UserNs += o.cpu.UserNs
	p.SystemNs += o.cpu.SystemNs
	p.VoluntarySwitches += o.cpu.VoluntarySwitches
	p.InvoluntarySwitches += o.cpu.InvoluntarySwitches
}

// killTree kills the worker, unless it has ended, and every descendant, and
// returns those that remain after killTimeout. Only the meter's own children
// are ever killed: nobody else can wait for them, so no pid can have passed to
// a stranger, and their children become the meter's in the next round. The
// worker stays a zombie, so that a last reading can be taken of it.
func (o *orphans) killTree(t *usage.Tree, workerEnded <-chan struct{}) []int {
	for begin := time.Now(); ; {
		left := o.reap(t)
		select {
		case <-workerEnded:
		default:
			left = append(left, o.worker)
		}
		if len(left) == 0 || time.Since(begin) > killTimeout {
			return left
		}
		for _, pid := range left {
			// ESRCH is the race with its end; EPERM (a setuid program) shows
			// in what remains.
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}
