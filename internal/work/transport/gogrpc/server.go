package gogrpc

import (
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	s := &server{paced: wire.PacedOf(setup.Exchange)}
	var err error
	if s.x, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if s.options, err = effective(setup, s.x); err != nil {
		return nil, err
	}
	s.chunkers = newChunkers(setup, s.options, s.x.UpBytes)
	s.payload = payloadOf(setup, s.x, s.options, ask{})
	if s.Server, err = tlswire.NewServer(setup, s.x.Sizes(contract.Ready{Options: s.options})); err != nil {
		return nil, err
	}
	options := append(serverOptions(s.options, s.payload.encoding()), grpc.UnknownServiceHandler(unknown(setup)))
	if s.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.TLS)))
	}
	s.grpc = grpc.NewServer(options...)
	if err := s.register(setup); err != nil {
		_ = s.Server.Close() // nothing was served yet
		return nil, err
	}
	s.Serve(s.grpc.Serve, func() error { s.grpc.Stop(); return nil })
	return s, nil
}

// Close implements load.Server.
func (s *server) Close() error {
	within(closeTimeout, func() { _ = s.Server.Close() }) // its stop returns no error
	return nil
}

// addReflection adds the reflection service, so that grpcurl, ghz and their like
// can drive the server without exchange.proto. It knows the user's own files too.
func addReflection(to *grpc.Server, setup contract.Setup) error {
	var own descriptorpb.FileDescriptorSet
	if m := setup.Exchange.Message; m != nil {
		if err := proto.Unmarshal(m.Descriptors, &own); err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf("exchange.message.descriptors: %w", err))
		}
	}
	files, err := protodesc.NewFiles(&own)
	if err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("exchange.message.descriptors: %w", err))
	}
	options := reflection.ServerOptions{Services: to, DescriptorResolver: resolver{files}}
	v1.RegisterServerReflectionServer(to, reflection.NewServerV1(options))
	v1alpha.RegisterServerReflectionServer(to, reflection.NewServer(options)) // what older clients ask for
	return nil
}

// resolver looks for descriptors among the user's own first, then among those that
// the program links.
type resolver struct{ own *protoregistry.Files }

// FindFileByPath implements protodesc.Resolver.
func (r resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	d, err := r.own.FindFileByPath(path)
	if errors.Is(err, protoregistry.NotFound) {
		return protoregistry.GlobalFiles.FindFileByPath(path)
	}
	return d, err
}

// FindDescriptorByName implements protodesc.Resolver.
func (r resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	d, err := r.own.FindDescriptorByName(name)
	if errors.Is(err, protoregistry.NotFound) {
		return protoregistry.GlobalFiles.FindDescriptorByName(name)
	}
	return d, err
}
