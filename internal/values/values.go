// Package values reads the values of a protobuf message from JSON and says what does not
// fit, and where. The
// program that plans a trial and the worker that carries it out both read
// through here, so that what passes the one passes the other.
package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"netdyno/internal/quantity"
)

// MaxBytes bounds the JSON of one message.
const MaxBytes = 256 << 10

// MisfitError is the error of Read.
type MisfitError struct {
	Line, Column int    // from 1, in characters; 0 where no place can be told
	Text         string // what is wrong, in protojson's words: invalid value for int32 field quantity: "six"
}

// Error implements error.
func (m *MisfitError) Error() string {
	if m.Line == 0 {
		return m.Text
	}
	return fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Text)
}

// Resolver finds types by their names.
type Resolver interface {
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
}

// Read replaces message by the values in text, which follow the protobuf JSON
// mapping. The resolver, not nil, finds what is in an Any, and extensions; its error says
// why it does not. The error is a *MisfitError.
//
// Source: Protocol Buffers documentation, "ProtoJSON Format".
func Read(text []byte, message proto.Message, resolver Resolver) error {
	if len(text) > MaxBytes {
		return &MisfitError{Text: fmt.Sprintf("has %s, more than the %s that a message's JSON may have",
			quantity.FormatBytes(float64(len(text))), quantity.FormatBytes(MaxBytes))}
	}
	if broken := syntax(text); broken != nil {
		return broken
	}
	err := protojson.UnmarshalOptions{Resolver: resolver}.Unmarshal(text, message)
	if err == nil {
		return nil
	}
	said, line, column := place(spoken(err))
	return &MisfitError{Line: line, Column: column, Text: said}
}

// syntax returns what keeps text from being JSON.
func syntax(text []byte) *MisfitError {
	var broken *json.SyntaxError
	if err := json.Unmarshal(text, new(json.RawMessage)); !errors.As(err, &broken) {
		return nil
	}
	at := int(broken.Offset) - 1 // of the character that does not belong
	if broken.Error() == "unexpected end of JSON input" {
		at = len(text)
	}
	line, column := position(text, max(at, 0))
	return &MisfitError{Line: line, Column: column, Text: "not JSON: " + broken.Error()}
}

func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// placed finds the place in an error of protojson, which has no type for it.
var placed = regexp.MustCompile(`\(line (\d+):(\d+)\): `)

// spoken is an error of protojson without its prefix, whose space is not
// always the same one.
func spoken(err error) string {
	return strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
}

// place takes the first place out of what protojson says.
func place(said string) (rest string, line, column int) {
	found := placed.FindStringSubmatchIndex(said)
	if found == nil {
		return said, 0, 0
	}
	line, _ = strconv.Atoi(said[found[2]:found[3]]) // \d+ that protojson wrote
	column, _ = strconv.Atoi(said[found[4]:found[5]])
	return said[found[1]:], line, column
}
