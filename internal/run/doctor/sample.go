package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// Sample is what a host does at one moment, before anything of ours runs.
type Sample struct {
	LoadAverage float64 // 1 min
	BusyShare   float64 // of all CPUs, steal not counted, 0 to 1
	StealShare  float64 // 0 to 1
}

// SampleFor is how long Observe should look: long enough for 20 of /proc's
// ticks on each CPU, short enough to come before a run unnoticed.
const SampleFor = 200 * time.Millisecond

// Observe watches the host for d. It ends early, with the context's error,
// when that is done.
func Observe(ctx context.Context, d time.Duration) (Sample, error) {
	w, err := Watch()
	if err != nil {
		return Sample{}, err
	}
	return w.End(ctx, d)
}

// Watched is what the host was like when a look at it began.
type Watched struct {
	at     time.Time
	before procfs.CPUStat
	own    float64 // CPU time of this process and of what it has started that has ended, s
}

// Watch begins a look at the host.
func Watch() (Watched, error) {
	now, err := stat()
	return Watched{time.Now(), now, ownTime()}, err
}

// End ends a look no sooner than d after it began. What this process did meanwhile is not
// counted. It ends early, with the context's error, when that is done.
func (w Watched) End(ctx context.Context, d time.Duration) (Sample, error) {
	select {
	case <-ctx.Done():
		return Sample{}, context.Cause(ctx)
	case <-time.After(time.Until(w.at.Add(d))):
	}
	after, err1 := stat()
	fs, err2 := procfs.NewDefaultFS()
	if err := errors.Join(err1, err2); err != nil {
		return Sample{}, err
	}
	load, err := fs.LoadAvg()
	if err != nil {
		return Sample{}, fmt.Errorf("read /proc/loadavg: %w", err)
	}
	own := min(ownTime()-w.own, after.User-w.before.User+after.System-w.before.System)
	after.User, after.Idle = after.User-own, after.Idle+own
	s := shares(w.before, after)
	s.LoadAverage = load.Load1
	return s, nil
}

func stat() (procfs.CPUStat, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}, fmt.Errorf("open /proc: %w", err)
	}
	now, err := fs.Stat()
	if err != nil {
		return procfs.CPUStat{}, fmt.Errorf("read /proc/stat: %w", err)
	}
	return now.CPUTotal, nil
}

func ownTime() (s float64) {
	for _, whose := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(whose, &u) == nil { // it cannot fail for these
			s += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
		}
	}
	return s
}

// The facts that carry a sample.
const (
	loadFact  = "load.average"
	busyFact  = "load.busy_share"
	stealFact = "load.steal_share"
)

// AddTo writes the sample into a host's facts, as SampleOf reads it.
func (s Sample) AddTo(h record.Host) {
	for key, value := range map[string]float64{loadFact: s.LoadAverage, busyFact: s.BusyShare, stealFact: s.StealShare} {
		h.Values[key] = strconv.FormatFloat(value, 'f', 4, 64)
	}
}

// SampleOf reads the sample that a host's facts hold; zero where there is none.
func SampleOf(h record.Host) Sample {
	read := func(key string) float64 {
		value, _ := known(h.Values).number(key)
		return value
	}
	return Sample{LoadAverage: read(loadFact), BusyShare: read(busyFact), StealShare: read(stealFact)}
}

// shares compares two sums over all CPUs; it is zero when no tick has passed.
func shares(before, after procfs.CPUStat) Sample {
	// Guest time is already in user time (proc_stat(5)).
	busy := func(c procfs.CPUStat) float64 { return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ }
	rest := func(c procfs.CPUStat) float64 { return c.Idle + c.Iowait + c.Steal }
	total := busy(after) + rest(after) - busy(before) - rest(before)
	if total <= 0 {
		return Sample{}
	}
	// Idle and iowait can run backwards by a tick, which makes no share
	// negative or larger than one.
	share := func(part float64) float64 { return min(max(part/total, 0), 1) }
	return Sample{BusyShare: share(busy(after) - busy(before)), StealShare: share(after.Steal - before.Steal)}
}

// Idleness is what a host does to a program while nothing else is asked of it.
type Idleness struct {
	LostShare    float64       // of a spinning thread's time, on the worst CPU, 0 to 1
	Longest      time.Duration // that it did not run
	OvershootP50 time.Duration // of sleeps
	OvershootP99 time.Duration
}

const (
	// lostFrom is a gap between two readings of the clock that no loop of a few
	// nanoseconds makes by itself: an interrupt, another thread, the hypervisor.
	// Source: fixed-time-quantum and sysjitter noise tests take 1 to 10 µs.
	lostFrom = 5 * time.Microsecond
	// nap is short enough for many, and no power of the tick.
	nap = 700 * time.Microsecond
	// IdleFor is how long Rest should look at each CPU.
	IdleFor = 500 * time.Millisecond
)

// Rest spins on each usable CPU for d, one after the other, and then sleeps for
// d in short naps. It ends early, with the context's error, when that is done.
// It pins the calling goroutine's thread meanwhile.
func Rest(ctx context.Context, d time.Duration) (Idleness, error) {
	var i Idleness
	for _, cpu := range cpuset.Of(0) {
		lost, longest, err := spin(ctx, cpu, d)
		if err != nil {
			return i, err
		}
		i.LostShare, i.Longest = max(i.LostShare, lost), max(i.Longest, longest)
	}
	var over []time.Duration
	for begun := time.Now(); time.Since(begun) < d; {
		if ctx.Err() != nil {
			return i, context.Cause(ctx)
		}
		asked := time.Now()
		time.Sleep(nap)
		over = append(over, time.Since(asked)-nap)
	}
	slices.Sort(over)
	i.OvershootP50, i.OvershootP99 = over[len(over)/2], over[len(over)*99/100]
	return i, nil
}

// spin reads the clock on one CPU for d or a little longer, and returns the share
// of that in gaps and the longest of them.
func spin(ctx context.Context, cpu int, d time.Duration) (share float64, longest time.Duration, err error) {
	done := make(chan struct{})
	var lost, passed time.Duration
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with us, and its CPU with it
		if err = cpuset.PinThread([]int{cpu}); err != nil {
			return
		}
		begun := time.Now()
		for passed < d && ctx.Err() == nil {
			now := time.Since(begun)
			if gap := now - passed; gap > lostFrom {
				lost, longest = lost+gap, max(longest, gap)
			}
			passed = now
		}
	}()
	<-done
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return float64(lost) / float64(max(passed, 1)), longest, err
}

// The facts that carry idleness.
const (
	lostFact    = "idle.lost_share"
	longestFact = "idle.longest_us"
	overshoot50 = "timer.overshoot_p50_us"
	overshoot99 = "timer.overshoot_p99_us"
)

// AddTo writes the idleness into a host's facts, as QuietOf reads it.
func (i Idleness) AddTo(h record.Host) {
	h.Values[lostFact] = strconv.FormatFloat(i.LostShare, 'f', 5, 64)
	for key, d := range map[string]time.Duration{longestFact: i.Longest, overshoot50: i.OvershootP50, overshoot99: i.OvershootP99} {
		h.Values[key] = strconv.FormatFloat(float64(d)/float64(time.Microsecond), 'f', 1, 64)
	}
}

// QuietOf reads the idleness that a host's facts hold; false where there is
// none.
func QuietOf(h record.Host) (record.Quiet, bool) {
	var q record.Quiet
	known := known(h.Values)
	for key, to := range map[string]*float64{lostFact: &q.LostShare, longestFact: &q.LongestUs, overshoot50: &q.OvershootP50Us, overshoot99: &q.OvershootP99Us} {
		value, told := known.number(key)
		if !told {
			return q, false
		}
		*to = value
	}
	return q, true
}
