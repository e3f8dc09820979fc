// Package nethttp is what the transports on Go's net/http share: a server that
// answers exchanges and a client that makes them. Which version of HTTP they
// speak, and with which settings, is the transport's to say.
package nethttp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Server implements load.Server on an http.Server.
type Server struct {
	content   *codec.Exchange
	listeners *wire.Listeners
	http      *http.Server
	options   map[string]any
	wait      sync.WaitGroup
	buffers   sync.Pool // of *[]byte: requests, and encoded replies
	mediaType []string
	length    []string

	exchanges, received, sent atomic.Int64
}

// NewServer listens and serves with as, whose Protocols and limits are the
// transport's; options are the effective ones.
func NewServer(setup contract.Setup, codecs []codec.Codec, as *http.Server, options map[string]any) (*Server, error) {
	content, err := codec.New(setup, codecs)
	if err != nil {
		return nil, err
	}
	if as.TLSConfig, err = wire.ServerTLS(setup); err != nil {
		return nil, err
	}
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	s := &Server{
		content: content, listeners: listeners, http: as, options: options,
		mediaType: []string{content.MediaType()}, length: []string{strconv.FormatInt(content.DownBytes, 10)},
	}
	s.buffers.New = func() any { b := make([]byte, max(content.UpBytes+1, content.DownBytes)); return &b }
	as.Handler = s
	serve := as.Serve
	if setup.TLS != nil {
		serve = func(l net.Listener) error { return as.ServeTLS(l, "", "") }
	}
	for _, l := range listeners.All() {
		s.wait.Go(func() { _ = serve(l) }) // ends by Close alone
	}
	return s, nil
}

// politeRead is how much of a refused body is read, in bytes.
const politeRead = 64 << 10

// ServeHTTP carries out the server's part of one exchange; it implements
// http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, fmt.Sprintf("method %s is not served, expected GET or POST", r.Method), http.StatusMethodNotAllowed)
		return
	}
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	request, err := s.receive(r, *buffer)
	var reply []byte
	if err == nil {
		// An encoded reply may take the request's room: that was decoded by then.
		reply, err = s.content.Respond((*buffer)[:0], request)
	}
	if err != nil {
		// Over HTTP/2 a body that is not read ends in a reset, which may overtake
		// the status that says why.
		_, _ = io.CopyN(io.Discard, r.Body, politeRead)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	header := w.Header()
	header["Content-Type"], header["Content-Length"] = s.mediaType, s.length
	if _, err := w.Write(reply); err != nil {
		return // the client has gone, and counts that itself
	}
	s.received.Add(int64(len(request)))
	s.sent.Add(int64(len(reply)))
	s.exchanges.Add(1)
}

// receive reads a request whole into room, which has one byte more than it
// needs.
func (s *Server) receive(r *http.Request, room []byte) ([]byte, error) {
	want := s.content.UpBytes
	if r.ContentLength >= 0 && r.ContentLength != want {
		return nil, fmt.Errorf("the request has %d bytes, expected %d", r.ContentLength, want)
	}
	n, err := fill(r.Body, room[:want+1])
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the request: %w", err)
	case int64(n) > want:
		return nil, fmt.Errorf("the request has more than the expected %d bytes", want)
	}
	return room[:n], nil
}

// Ready implements load.Server.
func (s *Server) Ready() contract.Ready {
	return s.content.Sizes(contract.Ready{Addresses: s.listeners.Addresses(), Options: s.options})
}

// Exited implements load.Exiter.
func (s *Server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server. An exchange and its bytes are counted when its
// reply was written.
func (s *Server) Counts() contract.Counts {
	return contract.Counts{
		Exchanges: s.exchanges.Load(), ReceivedBytes: s.received.Load(), SentBytes: s.sent.Load(),
		Connections: s.listeners.Open(),
	}
}

// Close implements load.Server.
func (s *Server) Close() error {
	s.listeners.Close()
	err := s.http.Close()
	s.wait.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return load.Failure(contract.Bug, fmt.Errorf("close the server: %w", err))
	}
	return nil
}
