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

// allocated is how many bytes a profile says that allocate took.
func allocated(t *testing.T, data []byte) (bytes int64) {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range p.Sample {
		for _, at := range one.Location {
			if strings.HasSuffix(at.Line[0].Function.Name, ".allocate") {
				bytes += one.Value[1]
			}
		}
	}
	return bytes
}

// Memory that was allocated before the window is in both of its profiles; memory
// allocated after its end is in neither.
func TestProfilesHoldTheGrowthOfTheWindow(t *testing.T) {
	allocate(4000)
	p := profiler{wanted: true}
	p.begin()
	allocate(400)
	p.end()
	allocate(4000)
	var r contract.Result
	p.taken(&r)
	before := allocated(t, r.ProfilesBefore[contract.ProfileAllocations])
	bytes := allocated(t, r.Profiles[contract.ProfileAllocations]) - before
	// 25 MB in samples of 512 KB: 50, by chance from 20 to 100.
	if before < 100<<20 || bytes < 10<<20 || bytes > 50<<20 {
		t.Errorf("%d bytes were allocated before the window and %d in it, want about %d and %d", before, bytes, 4000*64<<10, 400*64<<10)
	}
	if rate := runtime.SetMutexProfileFraction(-1); rate != 0 {
		t.Errorf("mutexes are profiled after the window, one in %d", rate)
	}
}
