package codec

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
)

// Proto is protobuf's binary encoding. Built-in messages are generated code,
// as an application's would be; the user's own go through reflection
// (dynamicpb), which is slower.
type Proto struct{}

// Name implements Codec.
func (Proto) Name() string { return "proto" }

// MediaType implements Codec.
func (Proto) MediaType() string { return "application/protobuf" }

// Kind implements Codec.
func (Proto) Kind(types *Types, content contract.Content) (Kind, error) {
	d, err := types.message(content.Type)
	if err != nil {
		return Kind{}, err
	}
	kind := typeOf(d)
	filled := kind.New().Interface()
	if err := protojson.Unmarshal([]byte(content.JSON), filled); err != nil {
		return Kind{}, fmt.Errorf("read a %s: %w", content.Type, err)
	}
	return Kind{
		Content: filled,
		New:     func() any { return kind.New().Interface() },
		Same:    func(m any) bool { return proto.Equal(filled, m.(proto.Message)) },
	}, nil
}

// typeOf returns generated code where there is some.
func typeOf(d protoreflect.MessageDescriptor) protoreflect.MessageType {
	if t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName()); err == nil && t.Descriptor() == d {
		return t
	}
	return dynamicpb.NewMessageType(d)
}

// Encode implements Codec.
func (Proto) Encode(dst []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, message.(proto.Message))
}

// Decode implements Codec.
func (Proto) Decode(data []byte, message any) error {
	return proto.Unmarshal(data, message.(proto.Message))
}
