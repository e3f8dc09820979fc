package goconnect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// server answers with a trial's content. What it hands to connect counts as
// sent.
type server struct {
	content   *codec.Exchange
	reply     *block // of codec bytes; not to be changed
	setup     contract.Setup
	settings  settings
	listeners *wire.Listeners
	http      *http.Server
	wait      sync.WaitGroup
	rooms     sync.Pool // of *room: what streams put together and cut

	exchanges, received, sent atomic.Int64
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	if err := t.admit(setup); err != nil {
		return nil, err
	}
	s := &server{setup: setup}
	var err error
	if s.settings, err = t.settingsOf(setup); err != nil {
		return nil, err
	}
	procedures, err := proceduresOf(setup)
	if err != nil {
		return nil, err
	}
	if s.content, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	encryption, err := wire.ServerTLS(setup)
	if err != nil {
		return nil, err
	}
	if s.listeners, err = wire.Listen(setup); err != nil {
		return nil, err
	}
	_, content := s.content.Contents()
	s.reply = &block{Content: content}
	s.rooms.New = func() any { return newRoom(setup, s.content) }
	s.http = &http.Server{Handler: s.mux(procedures), Protocols: t.protocols(), HTTP2: s.settings.http2, TLSConfig: encryption}
	for _, l := range s.listeners.All() {
		s.wait.Go(func() {
			if encryption != nil { // not http.TLSConfig, which the first Serve fills in for HTTP/2
				_ = s.http.ServeTLS(l, "", "") // ends by Close alone
			} else {
				_ = s.http.Serve(l)
			}
		})
	}
	return s, nil
}

// mux routes the procedures that carry the trial's content.
func (s *server) mux(p procedures) *http.ServeMux {
	mux, options, chunked := http.NewServeMux(), s.settings.handler(), s.chunked()
	mux.Handle(up, connect.NewClientStreamHandler(up, s.up, options, chunked))
	mux.Handle(down, connect.NewServerStreamHandler(down, s.down, options, chunked))
	mux.Handle(both, connect.NewBidiStreamHandler(both, s.both, options, chunked))
	if !s.content.Structured() {
		mux.Handle(p.unary, connect.NewUnaryHandler(p.unary, s.unary, options, chunked))
		mux.Handle(p.talk, connect.NewBidiStreamHandler(p.talk, s.talk, options, chunked))
		return mux
	}
	codecs := []connect.HandlerOption{options}
	for _, name := range encodings(s.content.Codec) {
		codecs = append(codecs, connect.WithCodec(&messages{blocks: blocks{name}, encode: s.encode, decode: s.decode}))
	}
	mux.Handle(p.unary, connect.NewUnaryHandler(p.unary, answer, codecs...))
	if p.talk != "" {
		mux.Handle(p.talk, connect.NewBidiStreamHandler(p.talk, converse, codecs...))
	}
	return mux
}

// chunked decodes Blocks. Chunks of encoded messages come under the encoding's
// name from clients that force one on a whole connection.
func (s *server) chunked() connect.HandlerOption {
	codecs := []connect.HandlerOption{connect.WithCodec(blocks{protobuf})}
	if s.content.Structured() {
		for _, name := range encodings(s.content.Codec) {
			codecs = append(codecs, connect.WithCodec(blocks{name}))
		}
	}
	return connect.WithHandlerOptions(codecs...)
}

// answer stands where an application would be, between decode and encode.
func answer(context.Context, *connect.Request[structured]) (*connect.Response[structured], error) {
	return connect.NewResponse(&structured{}), nil
}

// decode takes a structured request.
func (s *server) decode(data []byte) error {
	s.received.Add(int64(len(data)))
	return codec.Decode(s.content.Codec, data, s.content.Up.New())
}

// encode gives the structured reply.
func (s *server) encode(dst []byte) ([]byte, error) {
	data, err := codec.Encode(s.content.Codec, dst, s.content.Down.Content)
	s.count(0, len(data)-len(dst))
	return data, err
}

// count adds an exchange.
func (s *server) count(received, sent int) {
	s.received.Add(int64(received))
	s.sent.Add(int64(sent))
	s.exchanges.Add(1)
}

// unary answers codec bytes.
func (s *server) unary(_ context.Context, r *connect.Request[block]) (*connect.Response[block], error) {
	if _, err := s.respond(nil, r.Msg.GetContent()); err != nil {
		return nil, err
	}
	return connect.NewResponse(s.reply), nil
}

// respond takes the request of a whole exchange and counts it; buf is room to
// encode the reply into. The error is connect's.
func (s *server) respond(buf, request []byte) ([]byte, error) {
	reply, err := s.content.Respond(buf, request)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	s.count(len(request), len(reply))
	return reply, nil
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return s.content.Sizes(contract.Ready{Addresses: s.listeners.Addresses(), Options: s.settings.effective})
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
	err := s.http.Close()
	s.wait.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return load.Failure(contract.Bug, fmt.Errorf("close the server: %w", err))
	}
	return nil
}
