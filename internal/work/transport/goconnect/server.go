package goconnect

import (
	"context"
	"net/http"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/nethttp"
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
	procedure, err := procedureOf(setup)
	if err != nil {
		return nil, err
	}
	if s.content, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	_, content := s.content.Contents()
	s.block = &block{Content: content}
	if s.Server, err = tlswire.NewServer(setup, s.content.Sizes(contract.Ready{Options: s.settings.effective})); err != nil {
		return nil, err
	}
	nethttp.Serve(s.Server, &http.Server{Handler: s.mux(procedure.String()), Protocols: t.protocols(), HTTP2: s.settings.http2})
	return s, nil
}

// mux routes the procedure that carries the trial's content.
func (s *server) mux(procedure string) *http.ServeMux {
	mux, options := http.NewServeMux(), []connect.HandlerOption{s.settings.handler()}
	if !s.content.Structured() {
		mux.Handle(procedure, connect.NewUnaryHandler(procedure, s.unary, append(options, connect.WithCodec(blocks{protobuf}))...))
		return mux
	}
	for _, name := range encodings(s.content.Codec) {
		options = append(options, connect.WithCodec(&messages{blocks: blocks{name}, encode: s.encode, decode: s.decode}))
	}
	mux.Handle(procedure, connect.NewUnaryHandler(procedure, answer, options...))
	return mux
}

// server answers with a trial's content. A reply counts as sent when it is passed
// to connect.
type server struct {
	*tlswire.Server
	content  *codec.Exchange
	block    *block // the reply of codec bytes; not to be changed
	settings settings
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
	request := r.Msg.GetContent()
	reply, err := s.content.RespondTo(nil, request, asked)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	s.Count(int64(len(request)), int64(len(reply)))
	if len(reply) < len(s.block.Content) {
		return connect.NewResponse(&block{Content: reply}), nil
	}
	return connect.NewResponse(s.block), nil
}
