package gogrpc

import (
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

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
