package goconnect

import (
	"context"
	"sync"

	"connectrpc.com/connect"

	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire"
)

// server answers with a trial's content. A reply counts as sent when it is passed
// to connect.
type server struct {
	*wire.Server
	content  *codec.Exchange
	block    *block // the reply of codec bytes; not to be changed
	settings settings
	chunkers sync.Pool // of *rpc.Chunker
}

// answer takes the place of an application, between decode and encode.
func answer(context.Context, *connect.Request[structured]) (*connect.Response[structured], error) {
	return connect.NewResponse(&structured{}), nil
}

// decode decodes a structured request.
func (s *server) decode(data []byte) error {
	s.CountReceived(int64(len(data)))
	return codec.Decode(s.content.Codec, data, s.content.Up.New())
}

// encode encodes the structured reply.
func (s *server) encode(dst []byte) ([]byte, error) {
	data, err := codec.Encode(s.content.Codec, dst, s.content.Down.Content)
	s.Count(0, int64(len(data)-len(dst)))
	return data, err
}

// unary answers codec bytes.
func (s *server) unary(_ context.Context, r *connect.Request[block]) (*connect.Response[block], error) {
	if _, err := s.respond(nil, r.Msg.GetContent()); err != nil {
		return nil, err
	}
	return connect.NewResponse(s.block), nil
}

// respond checks the request of a whole exchange, counts it and returns the reply,
// encoded into buf. The error is connect's.
func (s *server) respond(buf, request []byte) ([]byte, error) {
	reply, err := s.content.Respond(buf, request)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	s.Count(int64(len(request)), int64(len(reply)))
	return reply, nil
}
