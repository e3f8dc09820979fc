package goconnect

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"netdyno/internal/work/wire/rpc"
)

// chunker returns what joins a handler's request and cuts its reply. The handler
// puts it back.
func (s *server) chunker() *rpc.Chunker {
	c := s.chunkers.Get().(*rpc.Chunker)
	c.Begin()
	return c
}

// join adds the next chunk of a request. The error is connect's.
func join(c *rpc.Chunker, chunk *block) error {
	if err := c.Join(chunk.GetContent()); err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	return nil
}

// reply sends the reply to a request in chunks, encoded into the chunker's room.
func (s *server) reply(c *rpc.Chunker, request []byte, send func(*block) error) error {
	reply, err := s.respond(c.Room, request, "")
	if err != nil {
		return err
	}
	if s.content.Structured() {
		c.Room = reply
	}
	return c.Cut(reply, func(piece []byte) error { return send(c.Block(piece)) })
}

// up takes the request in chunks.
func (s *server) up(_ context.Context, stream *connect.ClientStream[block]) (*connect.Response[block], error) {
	c := s.chunker()
	defer s.chunkers.Put(c)
	for stream.Receive() {
		if err := join(c, stream.Msg()); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	// connect encodes the reply after this handler has returned and put its chunker
	// back, so the reply needs a buffer of its own.
	reply, err := s.respond(nil, c.Joined(), "")
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&block{Content: reply}), nil
}

// down sends the reply in chunks.
func (s *server) down(_ context.Context, request *connect.Request[block], stream *connect.ServerStream[block]) error {
	c := s.chunker()
	defer s.chunkers.Put(c)
	return s.reply(c, request.Msg.GetContent(), stream.Send)
}

// both takes the request in chunks and then sends the reply in chunks.
func (s *server) both(_ context.Context, stream *connect.BidiStream[block, block]) error {
	c := s.chunker()
	defer s.chunkers.Put(c)
	for {
		chunk, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = join(c, chunk)
		}
		if err != nil {
			return err
		}
	}
	return s.reply(c, c.Joined(), stream.Send)
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
		if _, err := s.respond(nil, request.GetContent(), ""); err != nil {
			return err
		}
		if err := stream.Send(s.block); err != nil {
			return err
		}
	}
}

// converse answers each structured message with one. messages decodes and encodes
// them.
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
