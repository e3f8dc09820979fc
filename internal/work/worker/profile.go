package worker

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"netdyno/internal/contract"
)

// maxProfiles bounds all profiles of a result together so that, in base64 and
// beside what the meter adds, they fit a contract line.
const maxProfiles = 400 << 10

// The rates of the profiles that are off otherwise: a wait of mean length
// blockRateNs is taken, and one contention in mutexFraction.
const (
	mutexFraction = 10
	blockRateNs   = 10_000
)

// kinds are the profiles beside that of the CPU time, the most important first,
// by their names in the contract and in package runtime/pprof.
var kinds = []struct{ name, runtime string }{
	{contract.ProfileAllocations, "allocs"},
	{contract.ProfileMutex, "mutex"},
	{contract.ProfileBlock, "block"},
}

// profiler takes the profiles of the window when setup asks for them. The
// loop goroutine owns it.
type profiler struct {
	wanted  bool
	running bool
	buffer  bytes.Buffer
	opened  map[string][]byte // by contract's name, as the window opened
	closed  map[string][]byte
}

// begin starts the profiles at the window's opening.
func (p *profiler) begin() {
	if !p.wanted || p.running {
		return
	}
	rates(mutexFraction, blockRateNs)
	p.opened = snapshot()
	if err := pprof.StartCPUProfile(&p.buffer); err != nil {
		p.wanted = false
		rates(0, 0)
		fmt.Fprintln(os.Stderr, "no profile:", err)
		return
	}
	p.running = true
}

// end stops them at the window's close.
func (p *profiler) end() {
	if p.running {
		pprof.StopCPUProfile()
		p.closed = snapshot()
		rates(0, 0)
		p.wanted, p.running = false, false
	}
}

func rates(mutex, block int) {
	runtime.SetMutexProfileFraction(mutex)
	runtime.SetBlockProfileRate(block)
}

// snapshot returns what each kind has summed up since the program began. It is
// taken outside the window: allocations are published when a collection ends.
func snapshot() map[string][]byte {
	runtime.GC()
	all := map[string][]byte{}
	for _, k := range kinds {
		var b bytes.Buffer
		if err := pprof.Lookup(k.runtime).WriteTo(&b, 0); err != nil {
			fmt.Fprintf(os.Stderr, "no profile of %s: %v\n", k.name, err)
			continue
		}
		all[k.name] = b.Bytes()
	}
	return all
}

// taken adds what was profiled to a result, as much as its bound allows. The growth in
// the window is for readers to subtract: what parses profiles would be 0.2 to 0.5 MB of
// this program.
func (p *profiler) taken(r *contract.Result) {
	p.end()
	left := maxProfiles
	fits := func(name string, data ...[]byte) bool {
		size := 0
		for _, d := range data {
			size += len(d)
		}
		if size > left {
			fmt.Fprintf(os.Stderr, "no profile of %s: it has %d bytes, at most %d are left\n", name, size, left)
			return false
		}
		left -= size
		return true
	}
	if cpu := p.buffer.Bytes(); len(cpu) > 0 && fits("CPU time", cpu) {
		r.Profile = cpu
	}
	for _, k := range kinds {
		before, after := p.opened[k.name], p.closed[k.name]
		if before == nil || after == nil || !fits(k.name, before, after) {
			continue
		}
		if r.Profiles == nil {
			r.Profiles, r.ProfilesBefore = map[string][]byte{}, map[string][]byte{}
		}
		r.Profiles[k.name], r.ProfilesBefore[k.name] = after, before
	}
}
