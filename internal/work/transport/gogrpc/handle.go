package gogrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/rpc"
	"netdyno/internal/work/wire/tlswire"
)

// server answers the RPCs of a trial.
type server struct {
	*tlswire.Server
	x        *codec.Exchange
	options  load.Options // effective
	whole    answered     // exchanges of no class that requests name
	classes  []answered
	chunkers *chunkers
	grpc     *grpc.Server
}

// answered are the exchanges of a class, or of all that say none, as a server answers them.
type answered struct {
	x       *codec.Exchange
	payload payload
	chunk   int64 // bytes of a stream's messages
}

// serveClasses prepares the exchanges of all classes whose requests name theirs.
func (s *server) serveClasses(setup contract.Setup) {
	s.whole = answered{s.x, payloadOf(setup, s.x, s.options, ask{}), rpc.ChunkBytes(setup)}
	for i, c := range setup.Load.Classes {
		of := s.whole
		of.chunk = rpc.ChunkBytesOf(c)
		if x := s.x.Class(i); x != nil {
			of.x, of.payload = x, payloadOf(setup, x, s.options, ask{})
		}
		s.classes = append(s.classes, of)
	}
}

// encoding is the codec to force on the library; nil keeps the library's own.
func (s *server) encoding() encoding.CodecV2 {
	of := s.whole.payload.encoding()
	if !s.x.Classes() {
		return of
	}
	if of == nil {
		of = library
	}
	return classCodec{of}
}

// answers returns the exchanges of the class that a request names.
func (s *server) answers(ctx context.Context) (*answered, error) {
	if len(s.classes) == 0 {
		return &s.whole, nil
	}
	told := strings.Join(metadata.ValueFromIncomingContext(ctx, codec.ClassHeader), ",")
	if told == "" {
		return &s.whole, nil
	}
	i, err := codec.ClassNumber(told, len(s.classes))
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &s.classes[i], nil
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
	for _, c := range setup.Load.Classes {
		own := rpc.MethodsOf(contract.Exchange{Message: c.Message}).Unary
		if !slices.ContainsFunc(ours.Methods, func(m grpc.MethodDesc) bool { return m.MethodName == own.Name }) {
			s.serve(ours, own, false)
		}
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
	of, err := s.answers(ctx)
	if err != nil {
		return nil, err
	}
	in := of.payload.incoming()
	defer of.payload.release(in)
	if err := decode(in); err != nil {
		return nil, err
	}
	down, err := s.takeMessage(ctx, of, in)
	if err != nil {
		return nil, err
	}
	return of.payload.outgoing(down), nil
}

// talk answers every request with a reply until the client has finished.
func (s *server) talk(_ any, stream grpc.ServerStream) error {
	payload := s.whole.payload
	for {
		in := payload.incoming()
		down, err := int64(0), stream.RecvMsg(in)
		if err == nil {
			down, err = s.takeMessage(stream.Context(), &s.whole, in)
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
func (s *server) takeMessage(ctx context.Context, of *answered, in any) (down int64, err error) {
	received, err := of.payload.accept(of.x, in)
	if down = of.x.DownBytes; err == nil && of.x.Asks() {
		down, err = of.x.Asked(asked(ctx))
	}
	if err != nil {
		return 0, status.Error(codes.InvalidArgument, err.Error())
	}
	of.x.Work()
	s.Count(received, down) // before the reply is sent
	return down, nil
}

// asked is what a request says of the length of its reply.
func asked(ctx context.Context) string {
	return strings.Join(metadata.ValueFromIncomingContext(ctx, codec.DownHeader), ",")
}

// chunks is a method whose content travels in chunks.
func (s *server) chunks(directions contract.Stream) grpc.StreamDesc {
	desc := *chunkDesc(directions)
	desc.Handler = func(_ any, stream grpc.ServerStream) error {
		of, err := s.answers(stream.Context())
		if err != nil {
			return err
		}
		c := s.chunkers.takeChunker(of.chunk)
		defer s.chunkers.give(c)
		return s.answer(c, of, stream, &desc)
	}
	return desc
}

func (s *server) answer(c *chunker, of *answered, stream grpc.ServerStream, desc *grpc.StreamDesc) error {
	if err := c.receive(stream, desc.ClientStreams); err != nil {
		return refusal(err)
	}
	request := c.Joined()
	length := ""
	if of.x.Asks() {
		length = asked(stream.Context())
	}
	reply, err := of.x.RespondTo(c.Room, request, length)
	if err != nil {
		return refusal(err)
	}
	if of.x.Structured() {
		c.Room = reply
	}
	s.Count(int64(len(request)), int64(len(reply)))
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
