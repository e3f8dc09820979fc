package worker

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/google/pprof/profile"

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

// taken adds what was profiled to a result, as much as its bound allows.
func (p *profiler) taken(r *contract.Result) {
	p.end()
	left := maxProfiles
	fits := func(name string, data []byte) bool {
		if len(data) > left {
			fmt.Fprintf(os.Stderr, "no profile of %s: it has %d bytes, at most %d are left\n", name, len(data), left)
			return false
		}
		left -= len(data)
		return true
	}
	if cpu := p.buffer.Bytes(); len(cpu) > 0 && fits("CPU time", cpu) {
		r.Profile = cpu
	}
	for _, k := range kinds {
		if p.opened[k.name] == nil || p.closed[k.name] == nil {
			continue
		}
		grown, err := growth(p.opened[k.name], p.closed[k.name])
		if err != nil {
			fmt.Fprintf(os.Stderr, "no profile of %s: %v\n", k.name, err)
			continue
		}
		if fits(k.name, grown) {
			if r.Profiles == nil {
				r.Profiles = map[string][]byte{}
			}
			r.Profiles[k.name] = grown
		}
	}
}

// growth is by how much one profile of a program exceeds an earlier one.
func growth(before, after []byte) ([]byte, error) {
	from, err := profile.ParseData(before)
	if err != nil {
		return nil, err
	}
	to, err := profile.ParseData(after)
	if err != nil {
		return nil, err
	}
	from.Scale(-1)
	grown, err := profile.Merge([]*profile.Profile{to, from})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := grown.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
