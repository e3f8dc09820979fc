package gogrpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	protobuf "google.golang.org/protobuf/proto"

	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire/rpc"
)

// library is gRPC's own codec. A codec that is forced on a server also gets the
// messages of its reflection service, and passes them on to library.
var library = encoding.GetCodecV2(proto.Name)

// plain is the content subtype of protobuf: none, as with a client that has no
// codec forced on it. A subtype costs the library time in every call.
const plain = ""

// envelope holds a message that a codec.Codec encodes. Its type distinguishes the
// trial's messages from those of the reflection service.
type envelope struct {
	message any
	bytes   int // of the encoding that came
}

// structuredCodec encodes an envelope's message by a codec.Codec.
type structuredCodec struct {
	codec codec.Codec
	size  int // of what this end encodes
	pool  mem.BufferPool
}

// Name implements encoding.CodecV2: the content subtype, application/grpc+NAME.
func (c structuredCodec) Name() string {
	if c.codec.Name() == proto.Name {
		return plain
	}
	return c.codec.Name()
}

// Marshal implements encoding.CodecV2.
func (c structuredCodec) Marshal(v any) (mem.BufferSlice, error) {
	e, ours := v.(*envelope)
	if !ours {
		return library.Marshal(v)
	}
	if mem.IsBelowBufferPoolingThreshold(c.size) {
		data, err := codec.Encode(c.codec, nil, e.message)
		return mem.BufferSlice{mem.SliceBuffer(data)}, err
	}
	buf := c.pool.Get(c.size)
	data, err := codec.Encode(c.codec, (*buf)[:0], e.message)
	if err != nil || cap(data) != cap(*buf) { // the codec outgrew the buffer and allocated another
		c.pool.Put(buf)
		return mem.BufferSlice{mem.SliceBuffer(data)}, err
	}
	*buf = data
	return mem.BufferSlice{mem.NewBuffer(buf, c.pool)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (c structuredCodec) Unmarshal(data mem.BufferSlice, v any) error {
	e, ours := v.(*envelope)
	if !ours {
		return library.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(c.pool)
	defer whole.Free()
	e.bytes = whole.Len()
	return codec.Decode(c.codec, whole.ReadOnlyData(), e.message)
}

// protoCodec is library with another pool, which library cannot be given.
type protoCodec struct{ pool mem.BufferPool }

// Name implements encoding.CodecV2.
func (protoCodec) Name() string { return plain }

// Marshal implements encoding.CodecV2.
func (c protoCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(protobuf.Message)
	if !ok {
		return library.Marshal(v)
	}
	size := protobuf.Size(m)
	if mem.IsBelowBufferPoolingThreshold(size) {
		return library.Marshal(v)
	}
	buf := c.pool.Get(size)
	if _, err := (protobuf.MarshalOptions{UseCachedSize: true}).MarshalAppend((*buf)[:0], m); err != nil {
		c.pool.Put(buf)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buf, c.pool)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (c protoCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(protobuf.Message)
	if !ok {
		return library.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(c.pool)
	defer whole.Free()
	return protobuf.Unmarshal(whole.ReadOnlyData(), m)
}

// content is a message that is its own encoding: bytes to send, or the buffer
// in which they came.
type content struct {
	bytes []byte
	came  mem.Buffer
}

// drop gives the buffer back, if one came.
func (c *content) drop() {
	if c.came != nil {
		c.came.Free()
		c.came = nil
	}
}

// rawCodec sends contents as they are, without a copy, and receives them into one
// contiguous buffer. A bytes field of protobuf hands the same to an application,
// so the work can be compared.
type rawCodec struct {
	pool    mem.BufferPool
	subtype string // what the client says of its messages
}

// Name implements encoding.CodecV2.
func (r rawCodec) Name() string { return r.subtype }

// Marshal implements encoding.CodecV2.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	c, ours := v.(*content)
	if !ours {
		return library.Marshal(v)
	}
	return mem.BufferSlice{mem.SliceBuffer(c.bytes)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (r rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	switch to := v.(type) {
	case *content:
		to.drop() // of a peer that sends two replies for one request
		to.came = data.MaterializeToBuffer(r.pool)
		return nil
	case *tally:
		*to += tally(data.Len())
		return nil
	case *rpc.Chunker:
		return joinAll(to, data)
	}
	return library.Unmarshal(data, v)
}

// joinAll joins a chunk that the library holds in several pieces.
func joinAll(to *rpc.Chunker, chunk mem.BufferSlice) error {
	room, err := to.Extend(chunk.Len())
	if err == nil {
		chunk.CopyTo(room)
	}
	return err
}
