// Package beat finds when the processes of a meter stood still: a thread of the
// meter that wakes at even intervals sees by its own lateness when its host, its
// hypervisor or its control group was frozen, and looks whether a signal or a debugger
// holds a program that the worker has started. The thread is the meter's, because a
// worker would be charged with its CPU time, and because so it serves every worker.
package beat

import (
	"bytes"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

// The time between two beats is a fiftieth of the window, within these bounds: a beat
// costs up to 0.15 ms of CPU where others use the caches.
const (
	shortest = 20 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// Every returns the time between two beats of a window; 0 is one of unknown length.
func Every(window time.Duration) time.Duration {
	if window <= 0 {
		window = 2 * time.Second
	}
	return min(max(window/50, shortest), longest)
}

// late is by how much a beat comes later than timers do as a rule.
const late = 10 * time.Millisecond

// Watch beats from its start to its end. One goroutine may use it.
type Watch struct {
	quit  chan struct{}
	tid   int                // of the thread that beats
	held  chan map[int]int64 // by process, when it was looked at
	found chan contract.Beat
	once  sync.Once

	mu    sync.Mutex // of spans
	spans *spans
}

// Start begins to beat; nil where the kernel does not tell how long a
// thread waits for a CPU, as then a busy host would look like one that stood still.
// The caller ends it.
func Start(every time.Duration) *Watch {
	w := &Watch{quit: make(chan struct{}), held: make(chan map[int]int64, 1), found: make(chan contract.Beat, 1)}
	started := make(chan bool)
	go w.beat(every, started)
	if !<-started {
		return nil
	}
	return w
}

// Look begins to look at processes, at the next beat. Call it once. A nil Watch looks at none.
func (w *Watch) Look(pids []int) {
	if w == nil {
		return
	}
	looked := map[int]int64{}
	for _, pid := range pids {
		looked[pid] = usage.Now() // what is held now was told the bench
	}
	w.held <- looked
}

// End returns what was found, and does not wait for the next beat. A nil Watch has found
// nothing, and only the first End of one returns it.
func (w *Watch) End() (b *contract.Beat) {
	if w == nil {
		return nil
	}
	w.once.Do(func() {
		close(w.quit)
		for b == nil {
			// Go's runtime sends itself this signal, too. The thread may not sleep yet, or be gone.
			_ = unix.Tgkill(os.Getpid(), w.tid, unix.SIGURG)
			select {
			case found := <-w.found:
				b = &found
			case <-time.After(time.Millisecond):
			}
		}
	})
	return b
}

// SoFar returns what was found since the start, while the watch goes on. A nil Watch has found
// nothing.
func (w *Watch) SoFar() *contract.Beat {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spans == nil {
		return nil
	}
	held, all := maps.Clone(w.spans.held), slices.Clone(w.spans.all)
	b := w.spans.beat()
	w.spans.held, w.spans.all = held, all // what is still held goes on
	b.Stood = slices.Clone(b.Stood)
	return &b
}

// beat runs on a thread of its own, whose wait for a CPU it reads: the goroutine keeps
// it to the end, when the runtime ends the thread.
func (w *Watch) beat(every time.Duration, started chan<- bool) {
	runtime.LockOSThread()
	w.tid = unix.Gettid()
	queue, err := openQueue()
	started <- err == nil
	if err != nil {
		return
	}
	defer queue.close()
	var tree usage.Tree
	beganNs, began := usage.Now(), time.Now() // the same clock; to read it by time costs no system call
	now := func() int64 { return beganNs + int64(time.Since(began)) }
	s := newSpans(every, beganNs, queue.waitedNs())
	w.mu.Lock()
	w.spans = s
	w.mu.Unlock()
	var pids []int
	for turn := 0; ; turn++ {
		asleepNs := now()
		w.sleepUntil(s.lastNs + s.everyNs)
		w.mu.Lock()
		s.woke(asleepNs, now(), queue.waitedNs())
		look := func(pid int) {
			held, is := tree.Held(pid)
			s.saw(now(), pid, held, is)
		}
		select {
		case s.looked = <-w.held:
			pids = slices.Collect(maps.Keys(s.looked))
		case <-w.quit:
			for _, pid := range pids {
				look(pid)
			}
			w.mu.Unlock()
			w.found <- s.beat()
			return
		default:
		}
		if len(pids) > 0 {
			look(pids[turn%len(pids)])
		}
		w.mu.Unlock()
	}
}

// sleepUntil blocks the thread in the kernel, so that it wakes there and nowhere else: at an
// instant, whatever it was stopped for meanwhile, or at the end.
func (w *Watch) sleepUntil(ns int64) {
	at := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
		select {
		case <-w.quit:
			return
		default:
		}
	}
}

// queue is the kernel's account of the calling thread.
type queue struct {
	file int
	text [64]byte
}

func openQueue() (*queue, error) {
	file, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return &queue{file: file}, err
}

func (q *queue) close() { _ = unix.Close(q.file) }

// waitedNs returns for how long the thread was ready to run and waited for a CPU, 0
// where that cannot be read.
func (q *queue) waitedNs() int64 {
	n, err := unix.Pread(q.file, q.text[:], 0)
	if err != nil {
		return 0
	}
	// On the CPU, waiting for one, and time slices. Source:
	// Documentation/scheduler/sched-stats.rst.
	_, after, _ := bytes.Cut(q.text[:n], []byte{' '})
	ns := int64(0)
	for _, c := range after {
		if c < '0' || c > '9' {
			break
		}
		ns = 10*ns + int64(c-'0')
	}
	return ns
}

// spans gathers standstills. The zero value is not usable; see newSpans.
type spans struct {
	everyNs, lastNs, waitedNs int64

	longestNs int64
	all       []contract.Standstill
	held      map[int]*contract.Standstill // by process, while it is
	looked    map[int]int64                // when each was looked at last
}

func newSpans(every time.Duration, fromNs, waitedNs int64) *spans {
	return &spans{everyNs: int64(every), lastNs: fromNs, waitedNs: waitedNs, held: map[int]*contract.Standstill{}, looked: map[int]int64{}}
}

// woke enters a beat: by how much the thread woke too late, without having waited for a
// CPU, it stood still. That began at some time after the beat before, and the whole of
// it counts, or standstills of one beat would be found by chance.
func (s *spans) woke(asleepNs, nowNs, waitedNs int64) {
	due := max(s.lastNs+s.everyNs, asleepNs) // later where the runtime held it up before it slept
	stood := nowNs - due - max(0, waitedNs-s.waitedNs)
	s.longestNs = max(s.longestNs, stood)
	if stood >= int64(late) {
		s.keep(contract.Standstill{FromNs: min(asleepNs, due), ToNs: due + stood})
	}
	s.lastNs, s.waitedNs = nowNs, waitedNs
}

// saw enters whether a process was held when it was looked at. It was since halfway
// from the look before, and until halfway to the next.
func (s *spans) saw(nowNs int64, pid int, p contract.Stopped, held bool) {
	span, halfway := s.held[pid], (s.looked[pid]+nowNs)/2
	switch {
	case held && span == nil:
		s.held[pid] = &contract.Standstill{FromNs: halfway, ToNs: nowNs, Held: &p}
	case held:
		span.ToNs = nowNs
	case span != nil:
		span.ToNs = halfway
		s.keep(*span)
		delete(s.held, pid)
	}
	s.looked[pid] = nowNs
}

// keep adds a standstill, for the shortest where there are too many.
func (s *spans) keep(span contract.Standstill) {
	s.all = append(s.all, span)
	if len(s.all) > contract.MaxStood {
		shortest := 0
		for i, one := range s.all {
			if one.ToNs-one.FromNs < s.all[shortest].ToNs-s.all[shortest].FromNs {
				shortest = i
			}
		}
		s.all = slices.Delete(s.all, shortest, shortest+1)
	}
}

// beat returns what was gathered, what still stands included.
func (s *spans) beat() contract.Beat {
	for _, span := range s.held {
		s.keep(*span)
	}
	slices.SortFunc(s.all, func(a, b contract.Standstill) int { return int(a.FromNs - b.FromNs) })
	return contract.Beat{EveryNs: s.everyNs, LongestNs: max(0, s.longestNs), Stood: s.all}
}
