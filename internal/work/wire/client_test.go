package wire

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// A server that does not answer must cost one timeout, not one for every 128
// connections.
func TestEachBeginsNoMoreAfterAnError(t *testing.T) {
	const n = 100_000
	refused, failed := errors.New("refused"), make(chan struct{})
	var calls, now, most atomic.Int64
	err := Each(n, func(i int) error {
		calls.Add(1)
		for at := now.Add(1); ; {
			if seen := most.Load(); at <= seen || most.CompareAndSwap(seen, at) {
				break
			}
		}
		defer now.Add(-1)
		if i == 0 {
			defer close(failed)
			return refused
		}
		<-failed
		return nil
	})
	if !errors.Is(err, refused) || calls.Load() == n || most.Load() > connecting {
		t.Errorf("%v after %d calls, %d at once; want the first error, fewer calls than %d, at most %d at once", err, calls.Load(), most.Load(), n, connecting)
	}
}

// opener records what a client asks of it.
type opener struct {
	did  []string
	fail error
}

func (o *opener) Open() error { o.did = append(o.did, "open"); return o.fail }
func (o *opener) Close()      { o.did = append(o.did, "close") }
func (o *opener) Release()    { o.did = append(o.did, "release") }

// blocked runs until it is closed.
type blocked struct {
	*load.Connections
	load  *load.Load
	ended chan struct{}
}

func (b *blocked) Load() *load.Load { return b.load }
func (b *blocked) Run() error       { <-b.ended; return nil }
func (b *blocked) Close() bool      { close(b.ended); return true }

func TestClientReleasesWhenNothingRuns(t *testing.T) {
	setup := contract.Setup{Load: contract.Load{Connections: 3}}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fail error
		run  bool
	}{"never run": {}, "run": {run: true}, "not opened": {fail: errors.New("refused")}} {
		o := &opener{fail: c.fail}
		client, err := Connect(&blocked{load: l, ended: make(chan struct{})}, o, contract.Ready{Threads: 7})
		if !errors.Is(err, c.fail) {
			t.Errorf("%s: Connect returned %v", name, err)
		}
		if c.fail == nil {
			if r := client.Ready(); r.Connections != 3 || r.Verified != 3 || r.Threads != 7 {
				t.Errorf("%s: ready is %+v", name, r)
			}
			running := make(chan error, 1)
			if c.run {
				go func() { running <- client.Run() }()
				for begun := false; !begun; {
					client.mu.Lock()
					begun = client.running
					client.mu.Unlock()
				}
			}
			_ = client.Close()
			_ = client.Close()
			if c.run {
				if err := <-running; err != nil {
					t.Errorf("%s: Run returned %v", name, err)
				}
			} else if err := client.Run(); err != nil {
				t.Errorf("%s: Run after Close returned %v", name, err)
			}
		}
		if !slices.Equal(o.did, []string{"open", "close", "release"}) {
			t.Errorf("%s: %v, want open, close and release once each", name, o.did)
		}
	}
}
