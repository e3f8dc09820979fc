package worker

import (
	"math"
	"runtime/metrics"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// reader takes readings of this process. One goroutine uses it.
type reader struct {
	samples []metrics.Sample
	foreign bool // the work is another program's, of which this runtime says nothing
}

// The runtime/metrics names, in the order in which read uses them.
var sampled = []string{
	"/gc/cycles/total:gc-cycles",
	"/sched/pauses/total/gc:seconds",
	"/cpu/classes/gc/total:cpu-seconds",
	"/gc/heap/allocs:bytes",
	"/gc/heap/allocs:objects",
	"/memory/classes/heap/objects:bytes",
	"/sched/goroutines:goroutines",
	// What runtime.MemStats calls HeapSys …
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/heap/free:bytes",
	"/memory/classes/heap/released:bytes",
	// … and StackSys.
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/os-stacks:bytes",
}

func newReader() *reader {
	r := &reader{}
	for _, name := range sampled {
		r.samples = append(r.samples, metrics.Sample{Name: name})
	}
	return r
}

// readCounts returns the process's account now. The clock, the CPU clock and the
// counts are taken together; the runtime's own figures follow.
func (r *reader) readCounts(counts func() contract.Counts) contract.Reading {
	reading := contract.Reading{AtNs: load.Now(), CPUNs: processCPU(), Counts: counts()}
	reading.Runtime = r.runtime()
	return reading
}

// runtime returns the runtime's own figures; nil where they are not the worker's.
func (r *reader) runtime() *contract.Runtime {
	if r.foreign {
		return nil
	}
	metrics.Read(r.samples)
	const second = 1e9
	s := r.samples
	return &contract.Runtime{
		GCCycles:     int64(s[0].Value.Uint64()),
		GCPauseNs:    int64(sum(s[1].Value.Float64Histogram()) * second),
		GCCPUNs:      int64(s[2].Value.Float64() * second),
		AllocBytes:   int64(s[3].Value.Uint64()),
		AllocObjects: int64(s[4].Value.Uint64()),
		HeapBytes:    int64(s[5].Value.Uint64()),
		Goroutines:   int64(s[6].Value.Uint64()),

		HeapSysBytes:  total(s[7:11]),
		StackSysBytes: total(s[11:13]),
	}
}

// total adds up samples of bytes.
func total(samples []metrics.Sample) int64 {
	sum := uint64(0)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return int64(sum)
}

// sum estimates the total of a runtime histogram from the middles of its
// buckets, the only form in which the runtime gives pauses.
func sum(h *metrics.Float64Histogram) float64 {
	total := 0.0
	for i, n := range h.Counts {
		low, high := h.Buckets[i], h.Buckets[i+1]
		if math.IsInf(low, -1) {
			low = 0
		}
		if math.IsInf(high, 1) {
			high = low
		}
		total += float64(n) * (low + high) / 2
	}
	return total
}

// processCPU returns the CPU clock of this process in ns.
func processCPU() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0 // the clock exists on every Linux
	}
	return ts.Nano()
}
