package codec

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/work/netdynov1"
)

// Types resolves message types by full name: the built-in ones and those of
// the user's descriptors.
type Types struct{ files *protoregistry.Files }

// NewTypes reads a serialized FileDescriptorSet; empty leaves the built-in
// types alone.
func NewTypes(descriptors []byte) (*Types, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(descriptors, &set); err != nil {
		return nil, fmt.Errorf("parse descriptors: %w", err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("link descriptors: %w", err)
	}
	return &Types{files}, nil
}

// message finds a type by its full name.
func (t *Types) message(name string) (protoreflect.MessageDescriptor, error) {
	full := protoreflect.FullName(name)
	if m := netdynov1.File_exchange_proto.Messages().ByName(full.Name()); m != nil && m.FullName() == full {
		return m, nil
	}
	d, err := t.files.FindDescriptorByName(full)
	if err != nil {
		return nil, fmt.Errorf("find message type %s: %w", name, err)
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a message type", name)
	}
	return m, nil
}
