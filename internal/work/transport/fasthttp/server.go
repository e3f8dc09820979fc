package gofasthttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

type server struct {
	content   *codec.Exchange
	listeners *wire.Listeners
	http      *fasthttp.Server
	options   map[string]any
	wait      sync.WaitGroup
	replies   sync.Pool // of *[]byte: encoded replies

	exchanges, received, sent atomic.Int64
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	content, err := codec.New(setup, t.Codecs)
	if err != nil {
		return nil, err
	}
	encryption, err := wire.ServerTLS(setup)
	if err != nil {
		return nil, err
	}
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	o := serverOptionsOf(setup)
	s := &server{content: content, listeners: listeners, options: o.effective()}
	s.replies.New = func() any { b := make([]byte, 0, content.DownBytes); return &b }
	s.http = &fasthttp.Server{
		Handler: s.handle, ErrorHandler: s.refuse,
		ReadBufferSize: o.read, WriteBufferSize: o.write, Concurrency: o.concurrency, ReduceMemoryUsage: o.reduceMemory,
		MaxRequestBodySize: bound(content.UpBytes),
		// What could not be read as a request is no text for a trial's record.
		SecureErrorLogMessage: true,
	}
	for _, l := range listeners.All() {
		if encryption != nil {
			l = tls.NewListener(l, encryption)
		}
		s.wait.Go(func() { _ = s.http.Serve(l) }) // ends when its listener is closed
	}
	return s, nil
}

// bound is the largest body that fasthttp shall take; its 0 means 4 MiB.
func bound(bytes int64) int { return max(1, int(bytes)) }

// handle carries out the server's part of one exchange. An exchange and its
// bytes are counted when its reply is handed to the library, which writes it
// after handle returns.
func (s *server) handle(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsPost() {
		ctx.Error(fmt.Sprintf("method %s is not served, expected GET or POST\n", ctx.Method()), fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set(fasthttp.HeaderAllow, "GET, POST")
		return
	}
	request := ctx.Request.Body()
	room := s.replies.Get().(*[]byte)
	defer s.replies.Put(room)
	reply, err := s.content.Respond(*room, request)
	if err != nil {
		ctx.Error(err.Error()+"\n", fasthttp.StatusBadRequest)
		return
	}
	ctx.SetContentType(s.content.MediaType())
	if s.content.Structured() {
		*room = reply[:0]
		ctx.SetBody(reply) // copied: the room goes to another exchange
	} else {
		ctx.Response.SetBodyRaw(reply) // the same content for all
	}
	s.received.Add(int64(len(request)))
	s.sent.Add(int64(len(reply)))
	s.exchanges.Add(1)
}

// refuse answers what fasthttp could not read as a request.
func (s *server) refuse(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		err = fmt.Errorf("the request has more than the expected %d bytes", s.content.UpBytes)
	}
	ctx.Error(err.Error()+"\n", fasthttp.StatusBadRequest)
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return s.content.Sizes(contract.Ready{Addresses: s.listeners.Addresses(), Options: s.options})
}

// Exited implements load.Exiter.
func (s *server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	return contract.Counts{
		Exchanges: s.exchanges.Load(), ReceivedBytes: s.received.Load(), SentBytes: s.sent.Load(),
		Connections: s.listeners.Open(),
	}
}

// Close implements load.Server.
func (s *server) Close() error {
	s.listeners.Close()
	s.wait.Wait()
	// fasthttp tells when its handlers have ended by a shutdown alone; that the
	// listeners are closed already is the error it returns.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.http.ShutdownWithContext(ctx)
	return nil
}
