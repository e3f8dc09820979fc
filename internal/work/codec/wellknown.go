package codec

import (
	"reflect"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wellKnown returns the Go type for a message that JSON writes in a form of
// its own. Its values are those that the protobuf JSON mapping produces.
func wellKnown(message protoreflect.MessageDescriptor) (goType reflect.Type, known bool) {
	if message.FullName().Parent() != "google.protobuf" {
		return nil, false
	}
	switch message.Name() {
	case "Timestamp", "Duration", "FieldMask":
		return aString, true
	case "Struct", "Value", "ListValue", "Any":
		return anything, true
	case "BoolValue", "Int32Value", "Int64Value", "UInt32Value", "UInt64Value", "FloatValue", "DoubleValue", "StringValue", "BytesValue":
		if wrapped := message.Fields().ByNumber(1); wrapped != nil {
			return scalar(wrapped.Kind()), true
		}
	}
	return nil, false
}

// isTime tells the messages whose text is never empty, so that an empty string
// can stand for their absence.
func isTime(message protoreflect.MessageDescriptor) bool {
	return message != nil && (message.FullName() == "google.protobuf.Timestamp" || message.FullName() == "google.protobuf.Duration")
}

// int64Text and uint64Text are whole numbers in lists and maps, which JSON
// writes as strings: a reader with floating point numbers alone would lose
// their last digits.
type (
	int64Text  int64
	uint64Text uint64
)

// MarshalText implements encoding.TextMarshaler.
func (n int64Text) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *int64Text) UnmarshalText(text []byte) error {
	value, err := strconv.ParseInt(string(text), 10, 64)
	*n = int64Text(value)
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (n uint64Text) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(n), 10), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *uint64Text) UnmarshalText(text []byte) error {
	value, err := strconv.ParseUint(string(text), 10, 64)
	*n = uint64Text(value)
	return err
}
