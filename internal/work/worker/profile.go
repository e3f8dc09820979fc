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

// profiler takes the profiles of the window when setup asks for them. The
// loop goroutine owns it.
type profiler struct {
	wanted  bool
	running bool
	buffer  bytes.Buffer
	opened  []byte // the allocations so far, as the window opened
	closed  []byte
}

// begin starts the profiles at the window's opening.
func (p *profiler) begin() {
	if !p.wanted || p.running {
		return
	}
	p.opened = allocations()
	if err := pprof.StartCPUProfile(&p.buffer); err != nil {
		p.wanted = false
		fmt.Fprintln(os.Stderr, "no profile:", err)
		return
	}
	p.running = true
}

// end stops them at the window's close.
func (p *profiler) end() {
	if p.running {
		pprof.StopCPUProfile()
		p.closed = allocations()
		p.wanted, p.running = false, false
	}
}

// allocations returns what the program has allocated since it began. It is taken outside
// the window: allocations are published when a collection ends.
func allocations() []byte {
	runtime.GC()
	var b bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
		fmt.Fprintln(os.Stderr, "no profile of allocations:", err)
		return nil
	}
	return b.Bytes()
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
	if p.opened != nil && p.closed != nil && fits(contract.ProfileAllocations, p.opened, p.closed) {
		r.Profiles = map[string][]byte{contract.ProfileAllocations: p.closed}
		r.ProfilesBefore = map[string][]byte{contract.ProfileAllocations: p.opened}
	}
}
