package gofasthttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/tlswire"
)

type server struct {
	*tlswire.Server
	content *codec.Exchange
	replies sync.Pool // of *[]byte: encoded replies
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	content, err := codec.New(setup, t.Codecs)
	if err != nil {
		return nil, err
	}
	o := serverOptionsOf(setup)
	s := &server{content: content}
	s.replies.New = func() any { b := make([]byte, 0, content.DownBytes); return &b }
	if s.Server, err = tlswire.NewServer(setup, content.Sizes(contract.Ready{Options: o.effective()})); err != nil {
		return nil, err
	}
	serving := &fasthttp.Server{
		Handler: s.handle, ErrorHandler: s.refuse,
		ReadBufferSize: o.read, WriteBufferSize: o.write, Concurrency: o.concurrency, ReduceMemoryUsage: o.reduceMemory,
		MaxRequestBodySize: bound(content.UpBytes),
		// Bytes that are no request must not reach a trial's record.
		SecureErrorLogMessage: true,
	}
	s.Serve(func(l net.Listener) error {
		if s.TLS != nil {
			l = tls.NewListener(l, s.TLS)
		}
		return serving.Serve(l)
	}, func() error {
		// Only a shutdown waits for the handlers. It always reports an error,
		// because the listeners are closed already.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = serving.ShutdownWithContext(ctx)
		return nil
	})
	return s, nil
}

// bound returns the largest body that fasthttp accepts, whose 0 means 4 MiB.
func bound(bytes int64) int { return max(1, int(bytes)) }

// handle is the server's part of one exchange. It counts the exchange when it passes
// the reply to the library, which writes it after handle returns.
func (s *server) handle(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsPost() {
		ctx.Error(fmt.Sprintf("method %s is not served, expected GET or POST\n", ctx.Method()), fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set(fasthttp.HeaderAllow, "GET, POST")
		return
	}
	request := ctx.Request.Body()
	room := s.replies.Get().(*[]byte)
	defer s.replies.Put(room)
	content, asked := s.content, ""
	if content.Asks() {
		asked = string(ctx.Request.Header.Peek(codec.DownHeader))
	}
	reply, err := content.RespondTo(*room, request, asked)
	if err != nil {
		ctx.Error(err.Error()+"\n", fasthttp.StatusBadRequest)
		return
	}
	ctx.SetContentType(content.MediaType())
	if content.Structured() {
		*room = reply[:0]
		ctx.SetBody(reply) // copied, because another exchange gets the buffer
	} else {
		ctx.Response.SetBodyRaw(reply) // all replies have the same content
	}
	s.Count(int64(len(request)), int64(len(reply)))
}

// refuse answers what fasthttp could not read as a request.
func (s *server) refuse(ctx *fasthttp.RequestCtx, err error) {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		err = fmt.Errorf("the request has more than the expected %d bytes", s.content.UpBytes)
	}
	ctx.Error(err.Error()+"\n", fasthttp.StatusBadRequest)
}
