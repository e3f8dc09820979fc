package nethttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// mostBarren bounds the TCP connections that a connection of the trial takes one after
// the other without a reply on any: a server may end each at once, and net/http would
// dial for ever.
const mostBarren = 8

// What a dial beside a connection that stands means.
const (
	another  = iota // the server has left that one, or will
	settling        // the library has not added it to its pool yet
	full            // all its streams are in use
)

// errFull says why an http.Transport dials while streams are being checked.
var errFull = errors.New("every stream of the connection is in use, and an http.Transport dials another")

// Renewed dials one connection of HTTP/2 for an http.Transport, again when the library
// has no use for the last one. Every request that waits for a connection dials, and
// one is enough for all. Any goroutine may use it.
type Renewed struct {
	dialer *wire.Dialer
	i      int
	mu     sync.Mutex // held while it dials
	beside atomic.Int32
	barren int
}

// NewRenewed returns what dials connection i of a dialer that may reconnect.
func NewRenewed(d *wire.Dialer, i int) *Renewed { return &Renewed{dialer: d, i: i} }

// Dial makes the connection. The error is wire.ErrLost where the request shall look
// again for the one that is there.
func (r *Renewed) Dial(ctx context.Context) (net.Conn, error) {
	if !r.mu.TryLock() {
		return nil, wire.ErrLost
	}
	defer r.mu.Unlock()
	if r.dialer.Stands(r.i) {
		switch beside := r.beside.Load(); {
		case beside == full:
			return nil, errFull
		case beside == settling || !r.dialer.Served(r.i):
			return nil, wire.ErrLost
		}
	}
	if r.dialer.Served(r.i) {
		r.barren = 0
	}
	if r.barren++; r.barren > mostBarren {
		r.barren = 0 // of the next exchange
		return nil, load.Failure(contract.Peer, fmt.Errorf("the server ended %d connections, one after the other, before a reply", mostBarren))
	}
	return r.dialer.Dial(ctx, r.i)
}

// Checking calls check, which uses every stream of the connections: none is made beside
// them meanwhile.
func Checking(all []*Renewed, check func() error) error {
	for _, r := range all {
		r.beside.Store(full)
		defer r.beside.Store(another)
	}
	return check()
}

// Settle makes exchanges until one finds the connection that the first has made.
func (r *Renewed) Settle(exchange func() error) error {
	const soon = 100 * time.Millisecond
	r.beside.Store(settling)
	until := time.AfterFunc(soon, func() { r.beside.Store(another) }) // the server may have left it
	defer r.beside.Store(another)
	defer until.Stop()
	return exchange()
}

// The words of net/http, which does not export these errors, for a request that the
// server has not looked at: it may go out again (RFC 9113, section 6.8).
const (
	leftByServer = "http2: Transport received Server's graceful shutdown GOAWAY"
	notUsable    = "http2: client conn not usable"
)

// unprocessed tells whether err says that the server has not looked at a request.
func unprocessed(err error) bool {
	var reset http2.StreamError
	if errors.As(err, &reset) {
		return reset.Code == http2.ErrCodeRefusedStream
	}
	return err != nil && (err.Error() == leftByServer || err.Error() == notUsable)
}

var goneAway = regexp.MustCompile(`^http2: (?:server sent GOAWAY and closed the connection; LastStreamID=\d+, ErrCode=|Transport received GOAWAY from server ErrCode:)(\w+)`)

// Named gives an error of HTTP/2 a reason without numbers of one stream.
func Named(err error) error {
	var reset http2.StreamError
	if errors.As(err, &reset) {
		return &load.ReasonError{Err: err, Text: fmt.Sprintf("stream reset (%s)", reset.Code)}
	}
	if found := goneAway.FindStringSubmatch(err.Error()); found != nil {
		return &load.ReasonError{Err: err, Text: fmt.Sprintf("the server left within the reply (GOAWAY, %s)", found[1])}
	}
	return err
}
