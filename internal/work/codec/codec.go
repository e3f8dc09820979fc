// Package codec is what an exchange carries, apart from how it travels: the
// content of both messages, and how an application turns it into bytes and
// back. Every transport that carries more than an echo uses it, so that all
// of them do the same work.
//
//	request, err := x.Request(buf)         // client, every exchange: encode
//	reply, err := x.Respond(buf, request)  // server: decode, encode
//	err := x.Accept(reply)                 // client: decode
//
// With codec bytes there is nothing to encode: contents are random bytes of
// the sizes asked for, and only sizes are checked.
package codec

import (
	"hash/crc32"
	"math/rand/v2"

	"netdyno/internal/contract"
	_ "netdyno/internal/work/codec/own" // the code generated for a message of the user's, where the worker is built with it
	"netdyno/internal/work/load"
)

// Bytes is the codec that encodes nothing.
const Bytes = "bytes"

// Codec encodes an application's messages. An implementation is stateless and
// any goroutine may use it.
type Codec interface {
	// Name is the level of factor codec.
	Name() string
	// MediaType is its name in HTTP.
	MediaType() string
	// Kind makes the Go type that the codec works on for one content, and fills
	// in a value of it. The error says what in the content does not fit.
	Kind(types *Types, content contract.Content) (Kind, error)
	// Encode appends the message to dst.
	Encode(dst []byte, message any) ([]byte, error)
	// Decode reads data into message, a value of Kind.New. It keeps no reference
	// to data.
	Decode(data []byte, message any) error
}

// Encode appends message to dst by c. Every encoding of an exchange goes
// through here, gRPC's and Connect's own codecs included, so that a CPU
// profile tells what encoding costs by this one frame; it is never inlined.
//
//go:noinline
func Encode(c Codec, dst []byte, message any) ([]byte, error) { return c.Encode(dst, message) }

// Decode reads data into message by c; see Encode.
//
//go:noinline
func Decode(c Codec, data []byte, message any) error { return c.Decode(data, message) }

// Kind is a message type as a codec sees it, with the content that travels.
type Kind struct {
	Content any            // filled once, encoded in every exchange; not to be changed
	New     func() any     // an empty message to decode into
	Same    func(any) bool // whether a decoded message equals Content

	Generated bool // a message of the user's own, as code generated for it
}

// Exchange is the content of both directions. It is not changed after New and
// any goroutine may use it.
type Exchange struct {
	Codec              Codec // nil for codec bytes
	Up, Down           Kind  // of Codec; zero for codec bytes
	UpBytes, DownBytes int64 // of the encoded messages
	up, down           []byte

	upVaries, downVaries bool        // UpBytes, DownBytes are the largest
	draws                *load.Draws // nil unless one of them does

	service *load.Service // of a server; nil for none
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// random returns n bytes that nothing can compress. The bytes depend on the direction
// alone, so that both ends know them and a foreign server can serve them from a file.
func random(n int64, direction byte) []byte {
	content := make([]byte, n)
	var key [32]byte
	key[0] = direction
	_, _ = rand.NewChaCha8(key).Read(content) // never fails
	return content
}
