package codec

import (
	"errors"
	"fmt"
	"reflect"

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
	files     *protoregistry.Files
	resolver  *dynamicpb.Types // of what is in an Any, and of extensions
	generated string           // the package of code generated for them, if the worker was built with it
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
	return &Types{files, dynamicpb.NewTypes(files), contract.GeneratedPackage(descriptors)}, nil
}

// message finds a type by its full name: among the user's own, or else a
// built-in one.
func (t *Types) message(name string) (protoreflect.MessageDescriptor, error) {
	full := protoreflect.FullName(name)
	if m := t.builtIn(full); m != nil {
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

// builtIn returns the built-in type of a full name; nil when there is none, or
// the user has a type of that name.
func (t *Types) builtIn(full protoreflect.FullName) protoreflect.MessageDescriptor {
	m := netdynov1.File_exchange_proto.Messages().ByName(full.Name())
	if m == nil || m.FullName() != full {
		return nil
	}
	if _, err := t.files.FindDescriptorByName(full); err == nil {
		return nil
	}
	return m
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

// compiled returns a message as a type of generated code where the worker has
// one, and as it is where not. The error is about a message that does not say
// the same in both.
func (t *Types) compiled(message proto.Message) (proto.Message, error) {
	if _, dynamic := message.(*dynamicpb.Message); !dynamic {
		return message, nil
	}
	name := message.ProtoReflect().Descriptor().FullName()
	if name.Parent() != "google.protobuf" { // whose files are always protobuf's own
		name = protoreflect.FullName(t.generated) + "." + name
	}
	found, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if errors.Is(err, protoregistry.NotFound) {
		return message, nil // the worker was built without
	}
	if err != nil {
		return nil, fmt.Errorf("find generated code: %w", err)
	}
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	compiled := found.New().Interface()
	if err := proto.Unmarshal(encoded, compiled); err != nil {
		return nil, fmt.Errorf("decode as generated code: %w", err)
	}
	back := message.ProtoReflect().New().Interface()
	if encoded, err = proto.Marshal(compiled); err == nil {
		err = proto.Unmarshal(encoded, back)
	}
	if err == nil && !proto.Equal(message, back) {
		err = errors.New("it comes back with another value")
	}
	if err != nil {
		return nil, fmt.Errorf("encode as generated code: %w", err)
	}
	return compiled, nil
}

var (
	anything = reflect.TypeFor[any]()
	aString  = reflect.TypeFor[string]()
	anInt64  = reflect.TypeFor[int64]()
	aUint64  = reflect.TypeFor[uint64]()
)

// scalar returns the Go type for a field that holds no message.
func scalar(kind protoreflect.Kind) reflect.Type {
	switch kind {
	case protoreflect.BoolKind:
		return reflect.TypeFor[bool]()
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return reflect.TypeFor[int32]()
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return reflect.TypeFor[uint32]()
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return anInt64
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return aUint64
	case protoreflect.FloatKind:
		return reflect.TypeFor[float32]()
	case protoreflect.DoubleKind:
		return reflect.TypeFor[float64]()
	case protoreflect.BytesKind:
		return reflect.TypeFor[[]byte]()
	default: // string, enum
		return aString
	}
}
