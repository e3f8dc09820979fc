package goconnect

import (
	"net/http"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/rpc"
)

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	if err := t.admit(setup); err != nil {
		return nil, err
	}
	s := &server{}
	var err error
	if s.settings, err = settingsOf(t.GRPC, setup); err != nil {
		return nil, err
	}
	procedures, err := proceduresOf(setup)
	if err != nil {
		return nil, err
	}
	if s.content, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	_, content := s.content.Contents()
	s.block = &block{Content: content}
	s.chunkers.New = func() any { return rpc.NewChunker(setup, s.content.UpBytes) }
	if s.Server, err = wire.NewServer(setup, s.content.Sizes(contract.Ready{Options: s.settings.effective})); err != nil {
		return nil, err
	}
	nethttp.Serve(s.Server, &http.Server{Handler: s.mux(procedures), Protocols: t.protocols(), HTTP2: s.settings.http2})
	return s, nil
}

// mux routes the procedures that carry the trial's content.
func (s *server) mux(p rpc.Methods) *http.ServeMux {
	mux, options, chunked := http.NewServeMux(), s.settings.handler(), s.chunked()
	up, down, both := rpc.Up.String(), rpc.Down.String(), rpc.Both.String()
	unary, talk := p.Unary.String(), p.Talk.String()
	mux.Handle(up, connect.NewClientStreamHandler(up, s.up, options, chunked))
	mux.Handle(down, connect.NewServerStreamHandler(down, s.down, options, chunked))
	mux.Handle(both, connect.NewBidiStreamHandler(both, s.both, options, chunked))
	if !s.content.Structured() {
		mux.Handle(unary, connect.NewUnaryHandler(unary, s.unary, options, chunked))
		mux.Handle(talk, connect.NewBidiStreamHandler(talk, s.talk, options, chunked))
		return mux
	}
	codecs := []connect.HandlerOption{options}
	for _, name := range encodings(s.content.Codec) {
		codecs = append(codecs, connect.WithCodec(&messages{blocks: blocks{name}, encode: s.encode, decode: s.decode}))
	}
	mux.Handle(unary, connect.NewUnaryHandler(unary, answer, codecs...))
	if p.Talk != (rpc.Method{}) {
		mux.Handle(talk, connect.NewBidiStreamHandler(talk, converse, codecs...))
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
