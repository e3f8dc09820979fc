// Package server is transport gin: a server of wire http/1.1 by
// github.com/gin-gonic/gin, in release mode and without middleware. Its
// handlers are what gin's users write: ShouldBindJSON and JSON, ShouldBindWith
// and Render for protobuf, GetRawData and Data for bytes. Any client of wire
// http/1.1 drives it.
package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/codec/json"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/tlswire"

	"netdyno/workers/gin/fastjson"
)

// Transport is gin.
type Transport struct{}

// codecs are protobuf, encoding/json and sonic.
func codecs() []codec.Codec { return append(codec.Standard(), fastjson.Sonic{}) }

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	return contract.Transport{
		Name:     "gin",
		Doc:      "gin in release mode without middleware, over HTTP/1.1 of net/http; its JSON engine is the trial's codec",
		Wire:     httpwire.HTTP1,
		Roles:    []contract.Role{contract.Server},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(codecs()),
		Features: httpwire.Features,
	}
}

// Client implements load.Transport: gin is a server.
func (Transport) Client(contract.Setup) (load.Client, error) {
	return nil, load.Failure(contract.Unsupported, errors.New("gin has no client; go-http1 and fasthttp speak its wire"))
}

// server answers with a trial's content. An exchange counts when its reply was
// written.
type server struct {
	*tlswire.Server
	content *codec.Exchange
}

// builtIn is the JSON library that gin was built with.
var builtIn = json.API

// Server implements load.Transport. It sets gin's JSON engine, which the whole
// process has in common.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	content, err := codec.New(setup, codecs())
	if err != nil {
		return nil, err
	}
	s := &server{content: content}
	if s.Server, err = tlswire.NewServer(setup, content.Sizes(contract.Ready{})); err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	nethttp.Serve(s.Server, &http.Server{Handler: s.routes(), Protocols: protocols})
	return s, nil
}

// routes serves any path.
func (s *server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode) // otherwise gin prints on stdout, which is the contract's
	router := gin.New()
	answer := s.bytes
	if s.content.Structured() {
		name := s.content.Codec.Name()
		if e, ok := engines(builtIn)[name]; ok {
			json.API, answer = e, s.json
		} else {
			answer = s.proto
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		router.Handle(method, "/*path", s.bounded(answer))
	}
	return router
}

// bounded refuses a request of another size before it is read, and counts what
// the handler answered.
func (s *server) bounded(answer gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		want := s.content.UpBytes
		got := c.Request.ContentLength
		if err := s.content.Fits(got); err != nil && got >= 0 {
			refuse(c, err)
			return
		}
		var counted *counter
		if got < 0 {
			counted = &counter{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, want)}
			c.Request.Body = counted
		}
		answer(c)
		if c.IsAborted() {
			return
		}
		if counted != nil {
			got = counted.n
		}
		s.Count(got, int64(c.Writer.Size()))
	}
}

// counter counts a body that does not say its length.
type counter struct {
	io.ReadCloser
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

// json answers by the engine.
func (s *server) json(c *gin.Context) {
	if err := c.ShouldBindJSON(s.content.Up.New()); err != nil {
		refuse(c, fmt.Errorf("decode the request: %w", err))
		return
	}
	s.content.Work()
	c.JSON(http.StatusOK, s.content.Down.Content)
}

// proto answers protobuf.
func (s *server) proto(c *gin.Context) {
	if err := c.ShouldBindWith(s.content.Up.New(), protobuf{}); err != nil {
		refuse(c, fmt.Errorf("decode the request: %w", err))
		return
	}
	s.content.Work()
	c.Render(http.StatusOK, protobuf{s.content.Down.Content})
}

// bytes answers codec bytes.
func (s *server) bytes(c *gin.Context) {
	request, err := c.GetRawData()
	if err != nil {
		refuse(c, fmt.Errorf("read the request: %w", err))
		return
	}
	reply, err := s.content.RespondTo(nil, request, c.GetHeader(codec.DownHeader))
	if err != nil {
		refuse(c, err)
		return
	}
	c.Data(http.StatusOK, s.content.MediaType(), reply)
}

// refuse says what is wrong with a request.
func refuse(c *gin.Context, err error) {
	c.String(http.StatusBadRequest, "%s\n", err)
	c.Abort()
}
