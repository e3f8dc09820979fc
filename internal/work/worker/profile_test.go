package worker

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
)

var kept []byte

//go:noinline
func allocate(n int) {
	for range n {
		kept = make([]byte, 64<<10)
	}
}

// What was allocated before the window is in no profile of it, and what follows
// its close neither.
func TestProfilesHoldTheGrowthOfTheWindow(t *testing.T) {
	allocate(4000)
	p := profiler{wanted: true}
	p.begin()
	allocate(400)
	p.end()
	allocate(4000)
	var r contract.Result
	p.taken(&r)
	grown, err := profile.ParseData(r.Profiles[contract.ProfileAllocations])
	if err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for _, one := range grown.Sample {
		for _, at := range one.Location {
			if strings.HasSuffix(at.Line[0].Function.Name, ".allocate") {
				bytes += one.Value[1]
			}
		}
	}
	// 25 MB in samples of 512 KB: 50, by chance from 20 to 100.
	if bytes < 10<<20 || bytes > 50<<20 {
		t.Errorf("%d bytes were allocated in the window, want about %d", bytes, 400*64<<10)
	}
	if rate := runtime.SetMutexProfileFraction(-1); rate != 0 {
		t.Errorf("mutexes are profiled after the window, one in %d", rate)
	}
}
