package goconnect

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
)

// room is what a stream needs at the server: a request is put together in
// whole, and a reply encoded into reply. One handler at a time has it.
type room struct {
	chunker *chunker
	whole   []byte
	reply   []byte // of a structured reply; codec bytes need none
}

func newRoom(setup contract.Setup, x *codec.Exchange) *room {
	return &room{chunker: newChunker(setup), whole: make([]byte, 0, x.UpBytes)}
}

func (s *server) room() *room {
	r := s.rooms.Get().(*room)
	r.whole = r.whole[:0]
	return r
}

// add puts the next chunk of a request in its place. The error is connect's.
func (s *server) add(r *room, chunk *block) (err error) {
	if r.whole, err = gather(r.whole, chunk, s.content.UpBytes); err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	return nil
}

// answer returns the reply to a request, in the room.
func (s *server) answer(r *room, request []byte) ([]byte, error) {
	reply, err := s.respond(r.reply, request)
	if err == nil && s.content.Structured() {
		r.reply = reply
	}
	return reply, err
}

// up takes the request in chunks.
func (s *server) up(_ context.Context, stream *connect.ClientStream[block]) (*connect.Response[block], error) {
	r := s.room()
	defer s.rooms.Put(r)
	for stream.Receive() {
		if err := s.add(r, stream.Msg()); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	// The reply is encoded after this handler has returned, and its room with
	// it: it needs one of its own.
	reply, err := s.respond(nil, r.whole)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&block{Content: reply}), nil
}

// down sends the reply in chunks.
func (s *server) down(_ context.Context, request *connect.Request[block], stream *connect.ServerStream[block]) error {
	r := s.room()
	defer s.rooms.Put(r)
	reply, err := s.answer(r, request.Msg.GetContent())
	if err != nil {
		return err
	}
	return r.chunker.cut(reply, stream.Send)
}

// both takes the request in chunks and then sends the reply in chunks.
func (s *server) both(_ context.Context, stream *connect.BidiStream[block, block]) error {
	r := s.room()
	defer s.rooms.Put(r)
	for {
		chunk, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.add(r, chunk)
		}
		if err != nil {
			return err
		}
	}
	reply, err := s.answer(r, r.whole)
	if err != nil {
		return err
	}
	return r.chunker.cut(reply, stream.Send)
}

// talk answers each message of codec bytes with one.
func (s *server) talk(_ context.Context, stream *connect.BidiStream[block, block]) error {
	for {
		request, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := s.respond(nil, request.GetContent()); err != nil {
			return err
		}
		if err := stream.Send(s.reply); err != nil {
			return err
		}
	}
}

// converse does so with structured messages, which pass by messages' decode
// and encode.
func converse(_ context.Context, stream *connect.BidiStream[structured, structured]) error {
	for {
		if _, err := stream.Receive(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.Send(&structured{}); err != nil {
			return err
		}
	}
}
