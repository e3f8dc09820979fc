package baidustd

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Meta holds the fields of an RpcMeta that netdyno reads and writes. A reader's
// texts point into their frame. Parsing and writing allocate nothing, unlike
// generated code, which allocates an object for each field.
type Meta struct {
	Service, Method []byte // of a request; a reply's meta has no service
	ErrorCode       int32  // of a reply; 0 is success
	ErrorText       []byte
	Compression     int32 // brpc's CompressType; 0 is none
	CorrelationID   int64 // chosen by the client, repeated in the reply
	AttachmentBytes int32
}

// Numbers of the fields of RpcMeta, RpcRequestMeta and RpcResponseMeta.
const (
	fieldRequest       protowire.Number = 1
	fieldResponse      protowire.Number = 2
	fieldCompression   protowire.Number = 3
	fieldCorrelationID protowire.Number = 4
	fieldAttachment    protowire.Number = 5

	fieldService protowire.Number = 1
	fieldMethod  protowire.Number = 2

	fieldErrorCode protowire.Number = 1
	fieldErrorText protowire.Number = 2
)

// field is one field of a protobuf message, of a kind that a meta has.
type field struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte
}

// is reports whether the field has this number and kind. A field of another kind is
// unknown, as in protobuf's own code.
func (f field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// nextField cuts the first field off a message.
func nextField(message []byte) (f field, rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(message)
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	if number > protowire.MaxValidNumber {
		return f, nil, fmt.Errorf("field number %d, expected at most %d", number, protowire.MaxValidNumber)
	}
	f.number, f.kind, rest = number, kind, message[n:]
	switch kind {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(rest)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(rest)
	default:
		n = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	return f, rest[n:], nil
}

// parse reads an encoded RpcMeta.
func (m *Meta) parse(message []byte) error {
	*m = Meta{}
	requested := false
	for len(message) > 0 {
		f, rest, err := nextField(message)
		if err != nil {
			return err
		}
		message = rest
		switch {
		case f.is(fieldRequest, protowire.BytesType):
			requested = true
			err = m.parseRequest(f.bytes)
		case f.is(fieldResponse, protowire.BytesType):
			err = m.parseResponse(f.bytes)
		case f.is(fieldCompression, protowire.VarintType):
			m.Compression = int32(f.varint)
		case f.is(fieldCorrelationID, protowire.VarintType):
			m.CorrelationID = int64(f.varint)
		case f.is(fieldAttachment, protowire.VarintType):
			m.AttachmentBytes = int32(f.varint)
		}
		if err != nil {
			return err
		}
	}
	if requested && (m.Service == nil || m.Method == nil) {
		return errors.New("its request names no service or no method")
	}
	return nil
}

func (m *Meta) parseRequest(message []byte) error {
	for len(message) > 0 {
		f, rest, err := nextField(message)
		if err != nil {
			return err
		}
		message = rest
		switch {
		case f.is(fieldService, protowire.BytesType):
			m.Service = f.bytes
		case f.is(fieldMethod, protowire.BytesType):
			m.Method = f.bytes
		}
	}
	return nil
}

func (m *Meta) parseResponse(message []byte) error {
	for len(message) > 0 {
		f, rest, err := nextField(message)
		if err != nil {
			return err
		}
		message = rest
		switch {
		case f.is(fieldErrorCode, protowire.VarintType):
			m.ErrorCode = int32(f.varint)
		case f.is(fieldErrorText, protowire.BytesType):
			m.ErrorText = f.bytes
		}
	}
	return nil
}

// append encodes the meta. It always writes a request's names and a reply's code,
// and the other fields unless they are zero, as brpc does.
func (m *Meta) append(dst []byte) []byte {
	if m.Service != nil {
		dst = protowire.AppendTag(dst, fieldRequest, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(sizeBytes(m.Service)+sizeBytes(m.Method)))
		dst = appendBytes(dst, fieldService, m.Service)
		dst = appendBytes(dst, fieldMethod, m.Method)
	} else {
		size := 1 + protowire.SizeVarint(uint64(m.ErrorCode))
		if len(m.ErrorText) > 0 {
			size += sizeBytes(m.ErrorText)
		}
		dst = protowire.AppendTag(dst, fieldResponse, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(size))
		dst = appendVarint(dst, fieldErrorCode, uint64(m.ErrorCode))
		if len(m.ErrorText) > 0 {
			dst = appendBytes(dst, fieldErrorText, m.ErrorText)
		}
	}
	if m.Compression != 0 {
		dst = appendVarint(dst, fieldCompression, uint64(m.Compression))
	}
	dst = appendVarint(dst, fieldCorrelationID, uint64(m.CorrelationID))
	if m.AttachmentBytes != 0 {
		dst = appendVarint(dst, fieldAttachment, uint64(m.AttachmentBytes))
	}
	return dst
}

// sizeBytes is the size of a text with its tag, which takes one byte here.
func sizeBytes(text []byte) int { return 1 + protowire.SizeBytes(len(text)) }

func appendBytes(dst []byte, number protowire.Number, text []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), text)
}

func appendVarint(dst []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), v)
}
