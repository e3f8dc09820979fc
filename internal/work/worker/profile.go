package worker

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
)

// maxProfile bounds a profile so that, in base64, it fits a contract line.
const maxProfile = 700 << 10

// profiler takes the CPU profile of the window when setup asks for one. The
// loop goroutine owns it.
type profiler struct {
	wanted  bool
	running bool
	buffer  bytes.Buffer
}

// begin starts the profile at the window's opening.
func (p *profiler) begin() {
	if !p.wanted || p.running {
		return
	}
	if err := pprof.StartCPUProfile(&p.buffer); err != nil {
		p.wanted = false
		fmt.Fprintln(os.Stderr, "no profile:", err)
		return
	}
	p.running = true
}

// end stops it at the window's close.
func (p *profiler) end() {
	if p.running {
		pprof.StopCPUProfile()
		p.wanted, p.running = false, false
	}
}

// taken returns what was profiled; nil when nothing was, or too much.
func (p *profiler) taken() []byte {
	p.end()
	if p.buffer.Len() > maxProfile {
		fmt.Fprintf(os.Stderr, "no profile: it has %d bytes, expected at most %d\n", p.buffer.Len(), maxProfile)
		return nil
	}
	return p.buffer.Bytes()
}
