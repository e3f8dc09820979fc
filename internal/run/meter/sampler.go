package meter

import (
	"os/exec"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/sampling"
)

// sampler profiles the processes that a meter reads, from ready to the window's
// close, when the setup asks for a profile. wanted and kill may be used by any
// goroutine, the rest by the one that carries messages up.
type sampler struct {
	wanted atomic.Bool
	start  func(*exec.Cmd) error
	fromNs int64
	closed bool

	mu       sync.Mutex
	recorder *sampling.Recorder
	killed   bool
}

// ready begins to sample processes, before the bench may begin the load.
func (s *sampler) ready(pids func() []int) {
	if !s.wanted.Load() || s.recorder != nil {
		return
	}
	r := sampling.Start(pids(), s.start)
	s.mu.Lock()
	s.recorder = r
	killed := s.killed
	s.mu.Unlock()
	if killed {
		r.Kill()
	}
}

// mark learns where the window begins, and ends the sampling where it does.
func (s *sampler) mark(opens bool, atNs int64) {
	switch {
	case s.recorder == nil || s.closed:
	case opens:
		s.fromNs = atNs
	case s.fromNs > 0: // one before the window only reads
		s.closed = true
		s.recorder.Close(s.fromNs, atNs)
	}
}

// taken waits for what was sampled; nil when nothing was to be.
func (s *sampler) taken() *contract.Sampled {
	if !s.closed {
		return nil
	}
	return s.recorder.Sampled()
}

// kill ends the sampling, now or when it begins.
func (s *sampler) kill() {
	s.mu.Lock()
	s.killed = true
	r := s.recorder
	s.mu.Unlock()
	if r != nil {
		r.Kill()
	}
}
