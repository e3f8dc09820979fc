package codec

import (
	"google.golang.org/protobuf/proto"

	"netdyno/internal/contract"
)

// Proto is protobuf's binary encoding. Built-in messages are generated code,
// as an application's would be, and so are the user's own where the worker was
// built for them; elsewhere these go through reflection (dynamicpb), which is
// slower.
type Proto struct{}

// Name implements Codec.
func (Proto) Name() string { return "proto" }

// MediaType implements Codec.
func (Proto) MediaType() string { return "application/protobuf" }

// Kind implements Codec.
func (Proto) Kind(types *Types, content contract.Content) (Kind, error) {
	filled, err := types.fill(content)
	if err != nil {
		return Kind{}, err
	}
	message, err := types.compiled(filled)
	if err != nil {
		return Kind{}, err
	}
	kind := message.ProtoReflect().Type()
	return Kind{
		Content:   message,
		New:       func() any { return kind.New().Interface() },
		Same:      func(m any) bool { return proto.Equal(message, m.(proto.Message)) },
		Generated: message != filled,
	}, nil
}

// Encode implements Codec.
func (Proto) Encode(dst []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, message.(proto.Message))
}

// Decode implements Codec.
func (Proto) Decode(data []byte, message any) error {
	return proto.Unmarshal(data, message.(proto.Message))
}
