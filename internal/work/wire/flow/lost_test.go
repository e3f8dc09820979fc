package flow

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// scripted is a connection whose peer echoes so many bytes and then ends as told.
type scripted struct {
	echoes int64
	end    func() (int, error) // what Receive returns then
	wrote  chan int
	closed chan struct{}
	have   int64

	closing sync.Once
}

func newScripted(echoes int64, end func() (int, error)) *scripted {
	return &scripted{echoes: echoes, end: end, wrote: make(chan int, 1000), closed: make(chan struct{})}
}

func (s *scripted) Write(piece []byte) (int, error) {
	select {
	case <-s.closed:
		return 0, io.ErrClosedPipe
	case s.wrote <- len(piece):
		return len(piece), nil
	}
}

func (s *scripted) Receive(int64) (int, error) {
	if s.have >= s.echoes {
		return s.end()
	}
	select {
	case <-s.closed:
		return 0, io.ErrClosedPipe
	case n := <-s.wrote:
		s.have += int64(n)
		return n, nil
	}
}

func (s *scripted) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return nil
}

// runnerOver returns a runner in a closed loop of 10 bytes each way over
// connections that echo ten exchanges.
func runnerOver(t *testing.T, inFlight int, conns ...*scripted) (*Runner, *load.Load) {
	t.Helper()
	setup := contract.Setup{
		Exchange: contract.Exchange{UpBytes: 10, DownBytes: 10},
		Load:     contract.Load{Connections: len(conns), InFlight: inFlight},
	}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	return NewRunner(l, work, func(i int) Conn { return conns[i] }), l
}

func TestRunnerFailsWhatIsInFlightOnALostConnection(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		for kind, end := range map[contract.ErrorKind]func() (int, error){
			contract.Peer:    func() (int, error) { return 0, errors.New("reset") },
			contract.Invalid: func() (int, error) { return 1000, nil },
		} {
			t.Run(fmt.Sprintf("%s/%d", kind, inFlight), func(t *testing.T) {
				r, l := runnerOver(t, inFlight, newScripted(100, end), newScripted(200, end))
				if err := r.Run(); load.KindOf(err) != contract.Peer {
					t.Errorf("Run returned %v, want that every connection was lost", err)
				}
				got := l.Counts()
				if failed := got.Errors[kind]; got.Exchanges != 30 || failed < 2 || failed > int64(2*inFlight) || len(got.Errors) > 1 {
					t.Errorf("counts %+v, want 30 exchanges and what was in flight of kind %s", got, kind)
				}
			})
		}
	}
}

func TestAClosedRunnerLeavesItsExchangesUnfinished(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		silent := newScripted(0, nil)
		silent.end = func() (int, error) { <-silent.closed; return 0, io.ErrClosedPipe }
		r, l := runnerOver(t, inFlight, silent)
		ended := make(chan error)
		go func() { ended <- r.Run() }()
		for len(silent.wrote) < inFlight {
			time.Sleep(time.Millisecond)
		}
		r.Close()
		if err := silent.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
		result, err := l.Result()
		if err != nil {
			t.Fatal(err)
		}
		if result.Unfinished != int64(inFlight) || len(result.Counts.Errors) > 0 {
			t.Errorf("%d unfinished and errors %v, want %d and none", result.Unfinished, result.Counts.Errors, inFlight)
		}
	}
}
