// Package baidustd reads and writes the frames of wire baidu_std, brpc's own
// protocol:
//
//	"PRPC" | size of the body | size of the meta | meta | message | attachment
//	4 B      4 B, big-endian    4 B, big-endian    └────── the body ─────────┘
//
// The meta is a protobuf RpcMeta with the method of a request, or the outcome in a
// reply. The message is the call's protobuf. An attachment follows it unencoded.
// Source: Apache brpc, docs/en/baidu_std.md and src/brpc/policy/baidu_rpc_protocol.cpp.
package baidustd

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	magic      = "PRPC"
	headerSize = 12
)

// MaxMeta bounds the meta of a frame that is read, in bytes: two names and an
// error text take hundreds.
const MaxMeta = 64 << 10

// ErrMalformed is wrapped by every error about a frame's own bytes. Nothing that
// follows on the connection can be understood.
var ErrMalformed = errors.New("malformed baidu_std frame")

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, a...)...)
}

// Frame is one frame that was read. Its bytes belong to the Reader and are valid
// until the next call of Next.
type Frame struct {
	Meta       Meta
	Message    []byte
	Attachment []byte
}

// AppendHead appends a frame's header and meta to dst. Append the message to the
// result, and call Seal with all of it.
func AppendHead(dst []byte, m *Meta) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = m.append(dst)
	binary.BigEndian.PutUint32(dst[start+8:], uint32(len(dst)-start-headerSize))
	return dst
}

// Seal writes the size of the body into a frame that AppendHead began. The
// frame holds everything but the attachment, whose size is m.AttachmentBytes of
// the same meta. The error says that the frame is too large for the protocol.
func Seal(frame []byte, m *Meta) error {
	body := int64(len(frame)) - headerSize + int64(m.AttachmentBytes)
	if body != int64(uint32(body)) {
		return fmt.Errorf("write a frame with a body of %d bytes, at most %d can be said", body, uint32(1<<32-1))
	}
	binary.BigEndian.PutUint32(frame[4:], uint32(body))
	return nil
}

// sizes reads a header. Nothing of what it announces has been allocated yet.
func sizes(header []byte, maxBody int64) (body, meta int, err error) {
	if string(header[:4]) != magic {
		return 0, 0, malformed("it begins with %q, expected %q", header[:4], magic)
	}
	body, meta = int(binary.BigEndian.Uint32(header[4:])), int(binary.BigEndian.Uint32(header[8:]))
	switch {
	case int64(body) > maxBody:
		return 0, 0, malformed("a body of %d bytes, expected at most %d (option max_body)", body, maxBody)
	case meta > body:
		return 0, 0, malformed("a meta of %d bytes in a body of %d", meta, body)
	case meta > MaxMeta:
		return 0, 0, malformed("a meta of %d bytes, expected at most %d", meta, MaxMeta)
	}
	return body, meta, nil
}

// frameOf splits a body into its parts.
func frameOf(body []byte, meta int) (f Frame, err error) {
	if err := f.Meta.parse(body[:meta]); err != nil {
		return Frame{}, malformed("its meta does not parse: %w", err)
	}
	payload := body[meta:]
	attached := int(f.Meta.AttachmentBytes)
	if attached < 0 || attached > len(payload) {
		return Frame{}, malformed("an attachment of %d bytes in a body that has %d after its meta", attached, len(payload))
	}
	f.Message, f.Attachment = payload[:len(payload)-attached], payload[len(payload)-attached:]
	return f, nil
}

// Codes of a reply that failed. Source: Apache brpc, src/brpc/errno.proto.
const (
	NoService   int32 = 1001 // ENOSERVICE
	NoMethod    int32 = 1002 // ENOMETHOD
	BadRequest  int32 = 1003 // EREQUEST
	TimedOut    int32 = 1008 // ERPCTIMEDOUT
	LostSocket  int32 = 1009 // EFAILEDSOCKET
	Overcrowded int32 = 1011 // EOVERCROWDED
	Internal    int32 = 2001 // EINTERNAL
	BadResponse int32 = 2002 // ERESPONSE
	LogOff      int32 = 2003 // ELOGOFF: the server is stopping
	Limited     int32 = 2004 // ELIMIT
)

var names = map[int32]string{
	NoService: "ENOSERVICE", NoMethod: "ENOMETHOD", BadRequest: "EREQUEST", TimedOut: "ERPCTIMEDOUT", LostSocket: "EFAILEDSOCKET",
	Overcrowded: "EOVERCROWDED", Internal: "EINTERNAL", BadResponse: "ERESPONSE", LogOff: "ELOGOFF", Limited: "ELIMIT",
}

// CodeName returns brpc's name of a code; empty for one that has none here.
func CodeName(code int32) string { return names[code] }
