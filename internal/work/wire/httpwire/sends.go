package httpwire

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Asked is wire.Asked for libraries that send a request again by themselves. Any goroutine
// may use it.
type Asked struct {
	wire.Asked

	// AtEnd counts a request when it is written whole: for libraries that do not say when
	// its head is.
	AtEnd bool

	mu  sync.Mutex
	all []*Sends
}

// Requests implements wire.Requester.
func (a *Asked) Requests() (first, again int64) {
	first, again = a.Asked.Requests()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.all {
		again += max(0, s.wrote.Load()-s.told)
	}
	return first, again
}

// Sends counts the requests of one slot when the library writes their heads: a library
// may send a request a second time by itself, and may fail before it has sent any. One
// goroutine uses a Sends; the library's goroutines call the functions of Trace.
type Sends struct {
	atEnd bool
	wrote atomic.Int64
	told  int64 // exchanges that ended and whose request went out
}

// Sends returns what counts the requests of a slot.
func (a *Asked) Sends() *Sends {
	s := &Sends{atEnd: a.AtEnd}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, s)
	return s
}

// Trace returns the context that the slot's requests carry. It also tells l how long the TLS
// handshakes of the connections took that net/http made for them; nil for nobody.
func (s *Sends) Trace(ctx context.Context, l *load.Load) context.Context {
	t := &httptrace.ClientTrace{}
	if l != nil {
		var begun atomic.Int64 // a dial goes on for others where its request has ended
		t.TLSHandshakeStart = func() { begun.Store(load.Now()) }
		t.TLSHandshakeDone = func(s tls.ConnectionState, err error) {
			if err == nil {
				l.Secured(load.Now()-begun.Load(), s.DidResume)
			}
		}
	}
	if s.atEnd {
		t.WroteRequest = func(httptrace.WroteRequestInfo) { s.wrote.Add(1) }
	} else {
		t.WroteHeaders = func() { s.wrote.Add(1) }
	}
	return httptrace.WithClientTrace(ctx, t)
}

// Wrote says that the head of a request which carries ctx went out. Libraries other than
// net/http's call it in the trace's place.
func Wrote(ctx context.Context) {
	if t := httptrace.ContextClientTrace(ctx); t != nil && t.WroteHeaders != nil {
		t.WroteHeaders()
	}
}

// Ended accounts for an exchange that ended with err, and returns err, as a
// load.UnsentError where no request went out. The library may say so a little later than
// the reply comes.
func (s *Sends) Ended(err error) error {
	if err != nil && s.wrote.Load() <= s.told {
		return load.UnsentError{Err: err}
	}
	s.told++
	return err
}
