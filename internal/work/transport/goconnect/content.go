package goconnect

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"netdyno/internal/work/codec"
	"netdyno/internal/work/netdynov1"
)

// block carries codec bytes, and chunks of whatever is streamed.
type block = netdynov1.Block

// blocks is connect's codec for Blocks, and for the details of errors in the gRPC
// protocol. It does what connect's own codec does, but through codec.Encode and
// codec.Decode, which a profile looks for.
type blocks struct{ name string }

// protobuf is connect's name for the encoding of blocks.
const protobuf = "proto"

// Name implements connect.Codec.
func (b blocks) Name() string { return b.name }

// Marshal implements connect.Codec.
func (b blocks) Marshal(message any) ([]byte, error) { return b.MarshalAppend(nil, message) }

// MarshalAppend is what connect looks for in a codec, to reuse its buffers.
func (blocks) MarshalAppend(dst []byte, message any) ([]byte, error) {
	return codec.Encode(codec.Proto{}, dst, message)
}

// Unmarshal implements connect.Codec.
func (blocks) Unmarshal(data []byte, message any) error {
	return codec.Decode(codec.Proto{}, data, message)
}

// structured stands for a message in connect's generic types. The type of a
// trial's message is known only at run time, while connect makes each message that
// it receives by new(T). A T without a size costs nothing; the message that an
// application would have is made by messages. (connect makes another T to check
// that no second message comes. An application allocates that one too, a trial
// does not: one of about 140 allocations.)
type structured struct{}

// messages is connect's codec for structured messages: for every *structured it
// calls encode and decode of its end.
type messages struct {
	blocks // under the messages' name; for the details of gRPC errors
	encode func(dst []byte) ([]byte, error)
	decode func(data []byte) error
}

// Marshal implements connect.Codec.
func (m *messages) Marshal(message any) ([]byte, error) { return m.MarshalAppend(nil, message) }

// MarshalAppend is what connect looks for in a codec, to reuse its buffers.
func (m *messages) MarshalAppend(dst []byte, message any) ([]byte, error) {
	if other, ok := message.(proto.Message); ok {
		return m.blocks.MarshalAppend(dst, other)
	}
	return m.encode(dst)
}

// Unmarshal implements connect.Codec.
func (m *messages) Unmarshal(data []byte, message any) error {
	if other, ok := message.(proto.Message); ok {
		return m.blocks.Unmarshal(data, other)
	}
	return m.decode(data)
}

// encodings are the names of a codec in the content types of this wire: connect's own, as
// in application/json and application/grpc+json, and the codec's, by which clients of
// other libraries may call.
func encodings(c codec.Codec) []string {
	name := strings.TrimPrefix(c.MediaType(), "application/")
	if name == "protobuf" {
		name = protobuf
	}
	if name == c.Name() {
		return []string{name}
	}
	return []string{name, c.Name()}
}
