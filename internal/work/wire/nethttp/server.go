// Package nethttp is what the transports on Go's net/http share: a server that
// answers exchanges and a client that makes them. The transport chooses the version
// of HTTP and the settings.
package nethttp

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// Server implements load.Server on an http.Server.
type Server struct{ *tlswire.Server }

// NewServer listens and serves with as. The transport has set its Protocols and
// limits; options are the effective ones.
func NewServer(setup contract.Setup, codecs []codec.Codec, as *http.Server, options map[string]any) (*Server, error) {
	content, err := codec.New(setup, codecs)
	if err != nil {
		return nil, err
	}
	s, err := tlswire.NewServer(setup, content.Sizes(contract.Ready{Options: options}))
	if err != nil {
		return nil, err
	}
	as.Handler = NewHandler(setup, content, s.Count)
	Serve(s, as)
	return &Server{s}, nil
}

// Serve serves the ports of s with as, encrypted where s is.
func Serve(s *tlswire.Server, as *http.Server) {
	serve := as.Serve
	if s.TLS != nil {
		as.TLSConfig = s.TLS
		serve = func(l net.Listener) error { return as.ServeTLS(l, "", "") }
	}
	s.Serve(serve, as.Close)
}

// Handler carries out a server's part of the exchanges, whatever version of HTTP
// brings them. Any goroutine may use it.
type Handler struct {
	content   *codec.Exchange
	count     func(received, sent int64)
	stream    *wire.Paced // nil of replies that travel whole
	buffers   sync.Pool   // of *[]byte: requests, and encoded replies
	mediaType []string
	length    []string
}

// NewHandler returns a handler that tells count the payload bytes of every exchange
// whose reply it has written.
func NewHandler(setup contract.Setup, content *codec.Exchange, count func(received, sent int64)) *Handler {
	h := &Handler{
		content: content, count: count, stream: wire.PacedOf(setup.Exchange),
		mediaType: []string{content.MediaType()}, length: []string{strconv.FormatInt(content.DownBytes, 10)},
	}
	h.buffers.New = func() any { b := make([]byte, max(content.UpBytes+1, content.DownBytes)); return &b }
	return h
}

// refusedRead is how much of a refused body is read, in bytes.
const refusedRead = 64 << 10

// ServeHTTP carries out the server's part of one exchange; it implements
// http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, fmt.Sprintf("method %s is not served, expected GET or POST", r.Method), http.StatusMethodNotAllowed)
		return
	}
	content, asked := h.content, ""
	buffer := h.buffers.Get().(*[]byte)
	defer h.buffers.Put(buffer)
	if content.Asks() {
		asked = r.Header.Get(codec.DownHeader)
	}
	request, err := receive(content, r, *buffer)
	var reply []byte
	if err == nil {
		// The reply may be encoded over the request, which has been decoded by then.
		reply, err = content.RespondTo((*buffer)[:0], request, asked)
	}
	if err != nil {
		// Over HTTP/2 a body that is not read ends in a reset, which may overtake
		// the status that says why.
		_, _ = io.CopyN(io.Discard, r.Body, refusedRead)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	header := w.Header()
	header["Content-Type"], header["Content-Length"] = h.mediaType, h.length
	if content.Asks() {
		header["Content-Length"] = []string{strconv.Itoa(len(reply))}
	}
	if h.stream != nil {
		delete(header, "Content-Length")
		flush := http.NewResponseController(w).Flush
		err = h.stream.Send(reply, func(message []byte) error {
			_, err := w.Write(message)
			if err == nil {
				err = flush()
			}
			return err
		})
	} else {
		_, err = w.Write(reply)
	}
	if err != nil {
		return // the connection is lost; the client counts that
	}
	h.count(int64(len(request)), int64(len(reply))) // once the reply is written
}

// receive reads a whole request into room, which has room for one byte more.
func receive(content *codec.Exchange, r *http.Request, room []byte) ([]byte, error) {
	want := content.UpBytes
	if r.ContentLength >= 0 {
		if err := content.Fits(r.ContentLength); err != nil {
			return nil, err
		}
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
