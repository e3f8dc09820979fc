package goconnect

import (
	"context"
	"net/http"
	"sync"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/rpc"
	"netdyno/internal/work/wire/tlswire"
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
	if s.Server, err = tlswire.NewServer(setup, s.content.Sizes(contract.Ready{Options: s.settings.effective})); err != nil {
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

// server answers with a trial's content. A reply counts as sent when it is passed
// to connect.
type server struct {
	*tlswire.Server
	content  *codec.Exchange
	block    *block // the reply of codec bytes; not to be changed
	settings settings
	chunkers sync.Pool // of *rpc.Chunker
}

// answer takes the place of an application, between decode and encode.
func answer(context.Context, *connect.Request[structured]) (*connect.Response[structured], error) {
	return connect.NewResponse(&structured{}), nil
}

// decode decodes a structured request and does the work for it.
func (s *server) decode(data []byte) error {
	s.CountReceived(int64(len(data)))
	err := codec.Decode(s.content.Codec, data, s.content.Up.New())
	if err == nil {
		s.content.Work()
	}
	return err
}

// encode encodes the structured reply.
func (s *server) encode(dst []byte) ([]byte, error) {
	data, err := codec.Encode(s.content.Codec, dst, s.content.Down.Content)
	s.Count(0, int64(len(data)-len(dst)))
	return data, err
}

// unary answers codec bytes.
func (s *server) unary(_ context.Context, r *connect.Request[block]) (*connect.Response[block], error) {
	asked := ""
	if s.content.Asks() {
		asked = r.Header().Get(codec.DownHeader)
	}
	reply, err := s.respond(nil, r.Msg.GetContent(), asked)
	if err != nil {
		return nil, err
	}
	if len(reply) < len(s.block.Content) {
		return connect.NewResponse(&block{Content: reply}), nil
	}
	return connect.NewResponse(s.block), nil
}

// respond checks the request of a whole exchange, counts it and returns the reply,
// encoded into buf, as long as asked says where lengths vary. The error is connect's.
func (s *server) respond(buf, request []byte, asked string) ([]byte, error) {
	reply, err := s.content.RespondTo(buf, request, asked)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	s.Count(int64(len(request)), int64(len(reply)))
	return reply, nil
}
