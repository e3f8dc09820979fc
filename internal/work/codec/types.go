package codec

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
	"netdyno/internal/values"
	"netdyno/internal/work/netdynov1"
)

// Types resolves message types by full name: the built-in ones and those of
// the user's descriptors.
type Types struct {
	files    *protoregistry.Files
	resolver *dynamicpb.Types // of what is in an Any, and of extensions
}

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
	return &Types{files, dynamicpb.NewTypes(files)}, nil
}

// message finds a type by its full name.
func (t *Types) message(name string) (protoreflect.MessageDescriptor, error) {
	full := protoreflect.FullName(name)
	if m := netdynov1.File_exchange_proto.Messages().ByName(full.Name()); m != nil && m.FullName() == full {
		return m, nil
	}
	d, err := t.files.FindDescriptorByName(full)
	if errors.Is(err, protoregistry.NotFound) {
		return nil, fmt.Errorf("no message type %s in the descriptors, and it is not built in", name)
	}
	if err != nil {
		return nil, fmt.Errorf("find message type %s: %w", name, err)
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok || m.IsMapEntry() {
		return nil, fmt.Errorf("%s is not a message type", name)
	}
	return m, nil
}

// fill makes a message with the content's values. The error says which does
// not fit.
func (t *Types) fill(content contract.Content) (proto.Message, error) {
	d, err := t.message(content.Type)
	if err != nil {
		return nil, err
	}
	filled := typeOf(d).New().Interface()
	if err := values.Read([]byte(content.JSON), filled, t.resolver); err != nil {
		return nil, fmt.Errorf("read %s: %w", content.Type, err)
	}
	return filled, nil
}

// typeOf returns generated code where there is some.
func typeOf(d protoreflect.MessageDescriptor) protoreflect.MessageType {
	if t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName()); err == nil && t.Descriptor() == d {
		return t
	}
	return dynamicpb.NewMessageType(d)
}
