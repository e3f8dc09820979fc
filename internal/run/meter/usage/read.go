// Package usage reads what the kernel knows of a process tree and of its host:
// CPU time, memory, context switches, threads, the host's CPUs, interfaces and
// pressure. Amounts are cumulative; whoever wants a share subtracts two
// readings.
package usage

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/cgroup"
	"netdyno/internal/tcpinfo"
)

// Reader takes readings of one process tree and of its host. One goroutine
// may use it.
type Reader struct {
	pid  int
	less bool // the root itself is in no account
	tree Tree
	host procfs.FS

	queues queues
	groups cgroup.Reader
	boot   string // the kernel's boot ID; empty where it has none

	ignores bool   // a process of the latest reading ignores the end of its children
	forks   uint64 // processes that the host had begun by then
	unseen  int    // readings before which children may have come and gone in nobody's account

	stopped []contract.Stopped // met by the latest reading
	met     func(int, stat)    // told of every process of a reading; nil for nobody
}

// NewReader returns a Reader of the tree under pid. The error says that /proc
// is not mounted.
func NewReader(pid int) (*Reader, error) {
	host, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("open /proc: %w", err)
	}
	return &Reader{pid: pid, host: host, boot: bootID()}, nil
}

// bootID returns what tells this boot of this host from all others, random(4).
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// LeaveOut keeps the root itself out of all accounts from now on: it only stands for the
// program that it has started.
func (r *Reader) LeaveOut() { r.less = true }

// Processes returns those that a reading with the same roots is of.
func (r *Reader) Processes(more []int) []int { return r.tree.Processes(append([]int{r.pid}, more...)) }

// Read takes one reading of the tree and of further roots: descendants that have lost
// their parents. The CPU time of living processes is exact; that of children that were
// waited for comes from their parent, cut to 10 ms ticks for user and for system time: 19
// ms of user and 19 ms of system time read as 10 + 10. A thread's CPU time is the
// scheduler's account where the kernel keeps one. Not counted are the switches of threads
// that have ended and the CPU time of children that nobody waited for. A reading costs
// some 15 µs for each thread. The error says that the process is gone; a zombie still has
// its CPU time.
func (r *Reader) Read(more []int) (contract.Meter, error) {
	m := contract.Meter{AtNs: Now(), BootID: r.boot}
	if _, err := processCPU(r.pid); err != nil {
		return m, err
	}
	r.stopped = r.stopped[:0]
	ignored, forks := r.ignores, r.forks
	r.ignores = false
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, threads []int) {
		if pid != r.pid || !r.less {
			r.addProcess(&m, pid, threads)
		}
	})
	m.Threads = keepBusiest(m.Threads)
	r.addHost(&m, r.pid)
	if ignored && r.ignores && r.forks-forks >= unseenForks {
		r.unseen++
	}
	m.Group = r.groups.Of(r.pid)
	return m, nil
}

// unseenForks is how many processes a host must have begun between two readings for some
// of them to be taken for children of a process that ignores their end: what else runs
// on a quiet host begins a few in a second.
const unseenForks = 8

// Unseen returns before how many readings so far processes of the tree may have begun and
// ended whose CPU time is in no account: their parent ignores SIGCHLD, so that the kernel
// adds them to nobody (wait(2)), and many processes began. A parent that says so by
// SA_NOCLDWAIT alone is not known.
func (r *Reader) Unseen() int { return r.unseen }

// ignoresChildren reads from the status of a process whether it ignores the end of its
// children. Source: wait(2), "SIGCHLD"; proc_pid_status(5).
func ignoresChildren(status []byte) bool {
	ignored, err := strconv.ParseUint(string(field(status, "\nSigIgn:")), 16, 64)
	return err == nil && ignored>>(unix.SIGCHLD-1)&1 == 1
}

// Stopped returns the processes that the latest reading met held by a signal or a
// debugger, valid until the next one.
func (r *Reader) Stopped() []contract.Stopped { return r.stopped }

// Resident returns the resident memory of the tree now, in bytes, at a
// fraction of a whole reading's cost; 0 when it is gone.
func (r *Reader) Resident(more []int) int64 {
	var sum int64
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, _ []int) { sum += r.tree.file.resident(pid) })
	return sum
}

// Glance takes a brief reading, for many a second beside a load that warms up: the tree's
// CPU time and resident memory. It looks at no thread by itself. The error says that the process is gone.
func (r *Reader) Glance(more []int) (contract.Meter, error) {
	m := contract.Meter{AtNs: Now()}
	if _, err := processCPU(r.pid); err != nil {
		return m, fmt.Errorf("glance at process %d: %w", r.pid, err)
	}
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, threads []int) {
		if pid == r.pid && r.less {
			return
		}
		r.glanceAt(&m.Process, pid)
		m.Process.Threads += len(threads)
	})
	return m, nil
}

// glanceAt adds one process; one that ends meanwhile adds what could still be read.
func (r *Reader) glanceAt(p *contract.Process, pid int) {
	cpu, err := processCPU(pid)
	if err != nil {
		return
	}
	p.Processes++
	p.CPUNs += cpu
	if s, ok := r.tree.file.stat(pid); ok {
		s.addTo(p)
	}
	p.RSSBytes += r.tree.file.resident(pid)
}

// Sockets returns the inodes of the sockets of every kind that the tree and the further
// roots hold now. It costs a microsecond or two for each open file, so it is not for use
// beside a running load. A process whose files this one may not see adds none.
func (r *Reader) Sockets(more []int) map[uint32]bool {
	inodes := map[uint32]bool{}
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, _ []int) { tcpinfo.Held(pid, inodes) })
	return inodes
}
