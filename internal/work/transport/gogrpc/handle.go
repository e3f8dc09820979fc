package gogrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
	"netdyno/internal/work/wire/tlswire"
)

// server answers the RPCs of a trial.
type server struct {
	*tlswire.Server
	x        *codec.Exchange
	options  load.Options // effective
	payload  payload
	chunkers *chunkers
	grpc     *grpc.Server
	paced    *wire.Paced // sends the chunks of replies; nil of others than stream down
}

// register registers the methods that serve the trial: those of exchange.proto
// for its messages, those for chunks, the method of option method, and the
// reflection service.
func (s *server) register(setup contract.Setup) error {
	whole := rpc.MethodsOf(setup.Exchange)
	ours := &grpc.ServiceDesc{
		ServiceName: rpc.Service,
		HandlerType: (*any)(nil),
		Metadata:    "exchange.proto",
		Streams: []grpc.StreamDesc{
			s.chunks(contract.StreamUp), s.chunks(contract.StreamDown), s.chunks(contract.StreamBoth),
		},
	}
	streamed := s.options.Text("mode") == "stream"
	if whole.Unary == whole.Talk {
		s.serve(ours, whole.Unary, streamed)
	} else {
		s.serve(ours, whole.Unary, false)
		s.serve(ours, whole.Talk, true)
	}
	theirs, isGiven, err := given(s.options)
	switch {
	case err != nil:
		return err
	case isGiven && theirs.Service == rpc.Service:
		s.serve(ours, theirs, streamed)
	case isGiven:
		desc := &grpc.ServiceDesc{ServiceName: theirs.Service, HandlerType: (*any)(nil)}
		s.serve(desc, theirs, streamed)
		s.grpc.RegisterService(desc, nil)
	}
	s.grpc.RegisterService(ours, nil)
	return addReflection(s.grpc, setup)
}

// serve adds a method that carries whole messages, as an RPC or as a stream.
func (s *server) serve(to *grpc.ServiceDesc, method rpc.Method, streamed bool) {
	if streamed {
		to.Streams = append(to.Streams, grpc.StreamDesc{StreamName: method.Name, Handler: s.talk, ClientStreams: true, ServerStreams: true})
		return
	}
	to.Methods = append(to.Methods, grpc.MethodDesc{MethodName: method.Name, Handler: s.unary})
}

// unary answers one request. The library's generated code has this shape.
func (s *server) unary(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := s.payload.incoming()
	defer s.payload.release(in)
	if err := decode(in); err != nil {
		return nil, err
	}
	down, err := s.takeMessage(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.payload.outgoing(down), nil
}

// talk answers every request with a reply until the client has finished.
func (s *server) talk(_ any, stream grpc.ServerStream) error {
	payload := s.payload
	for {
		in := payload.incoming()
		down, err := int64(0), stream.RecvMsg(in)
		if err == nil {
			down, err = s.takeMessage(stream.Context(), in)
		}
		payload.release(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := stream.SendMsg(payload.outgoing(down)); err != nil {
			return err
		}
	}
}

// takeMessage checks a request, counts the exchange and returns the length of the reply.
func (s *server) takeMessage(ctx context.Context, in any) (down int64, err error) {
	received, err := s.payload.accept(s.x, in)
	if down = s.x.DownBytes; err == nil && s.x.Asks() {
		down, err = s.x.Asked(strings.Join(metadata.ValueFromIncomingContext(ctx, codec.DownHeader), ","))
	}
	if err != nil {
		return 0, status.Error(codes.InvalidArgument, err.Error())
	}
	s.x.Work()
	s.Count(received, down) // before the reply is sent
	return down, nil
}

// chunks is a method whose content travels in chunks.
func (s *server) chunks(directions contract.Stream) grpc.StreamDesc {
	desc := *chunkDesc(directions)
	desc.Handler = func(_ any, stream grpc.ServerStream) error {
		c := s.chunkers.takeChunker()
		defer s.chunkers.give(c)
		return s.answer(c, stream, &desc)
	}
	return desc
}

func (s *server) answer(c *chunker, stream grpc.ServerStream, desc *grpc.StreamDesc) error {
	if err := c.receive(stream, desc.ClientStreams, teller{}); err != nil {
		return refusal(err)
	}
	request := c.Joined()
	reply, err := s.x.Respond(c.Room, request)
	if err != nil {
		return refusal(err)
	}
	if s.x.Structured() {
		c.Room = reply
	}
	s.Count(int64(len(request)), int64(len(reply)))
	if s.paced != nil && desc.ServerStreams {
		return s.paced.Send(reply, func(piece []byte) error { return stream.SendMsg(c.message(piece)) })
	}
	return c.send(stream, reply, desc.ServerStreams)
}

// refusal returns a status that says what was wrong with the request. The
// library's own errors have a status already.
func refusal(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Error(codes.InvalidArgument, load.TextOf(err))
}

// unknown refuses methods that do not serve the trial, and names those that do.
func unknown(setup contract.Setup) grpc.StreamHandler {
	e := setup.Exchange
	whole, kind := rpc.MethodsOf(e), e.Codec
	if kind == "" {
		kind = "bytes"
	}
	return func(_ any, stream grpc.ServerStream) error {
		asked, _ := grpc.MethodFromServerStream(stream)
		return status.Error(codes.Unimplemented, fmt.Sprintf(
			"method %s does not serve this trial of codec %s; expected %s, %s, or Up, Down and Both of %s",
			asked, kind, whole.Unary, whole.Talk, rpc.Service))
	}
}
