package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"netdyno/internal/record"
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
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return Sample{}, fmt.Errorf("open /proc: %w", err)
	}
	before, err := fs.Stat()
	if err != nil {
		return Sample{}, fmt.Errorf("read /proc/stat: %w", err)
	}
	select {
	case <-ctx.Done():
		return Sample{}, context.Cause(ctx)
	case <-time.After(d):
	}
	after, err1 := fs.Stat()
	load, err2 := fs.LoadAvg()
	if err := errors.Join(err1, err2); err != nil {
		return Sample{}, fmt.Errorf("read /proc: %w", err)
	}
	s := shares(before.CPUTotal, after.CPUTotal)
	s.LoadAverage = load.Load1
	return s, nil
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
