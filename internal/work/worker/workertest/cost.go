package workertest

import (
	"testing"

	"netdyno/internal/work/load"
)

// CountsAllocations skips a test under the race detector, which has sync.Pool
// drop things at random.
func CountsAllocations(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("the race detector empties pools at random")
	}
}

// Allocations returns how many objects the process allocates in an exchange, on
// average, when its pools are full; the other end's are among them where it
// lives in the same process.
func Allocations(t testing.TB, exchange load.Call) float64 {
	t.Helper()
	run := func() {
		if _, err := exchange(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		run() // fills the pools
	}
	return testing.AllocsPerRun(300, run)
}

// Benchmark times exchanges one after the other, each of so many bytes.
func Benchmark(b *testing.B, bytes int64, exchange load.Call) {
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := exchange(); err != nil {
			b.Fatal(err)
		}
	}
}
