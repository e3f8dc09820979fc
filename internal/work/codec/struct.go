package codec

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bounds of a Go type that is made at run time: reflect writes the type out in
// full, types of types included, as often as they occur.
const (
	maxFields = 10_000 // those of its fields' types counted wherever they occur
	maxDepth  = 100    // messages within messages
)

// shape is a Go type for a message, with what it took.
type shape struct {
	goType        reflect.Type
	fields, depth int
}

// shapes makes the Go types that a programmer would write for messages, as
// far as reflect can. A message that is being made is there with a nil type.
type shapes map[protoreflect.FullName]shape

// shapeOf makes the Go type for a message:
//
//	string, bool, int32, uint32, float, double   the same in Go
//	int64, uint64                                int64, uint64; in JSON a string
//	bytes                                        []byte
//	enum                                         string, its name
//	repeated T, map<K, V>                        []T, map[K]V; of K bool: map[string]V
//	message, group                               *struct
//	optional, in a oneof, with proto2 or editions: presence    a pointer
//	Timestamp, Duration                          string
//	FieldMask, the wrappers                      a pointer to what they wrap
//	Struct, Value, ListValue, Any, NullValue     any
//	a message within itself                      any
//
// Every field is omitted where it is empty, as the protobuf JSON mapping does.
func shapeOf(message protoreflect.MessageDescriptor) (reflect.Type, error) {
	s := shapes{}
	if t, known := wellKnown(message); known {
		return element(t), nil
	}
	made, err := s.message(message)
	return made.goType, err
}

func (s shapes) message(message protoreflect.MessageDescriptor) (shape, error) {
	name := message.FullName()
	if made, seen := s[name]; seen {
		if made.goType == nil {
			return shape{goType: anything}, nil
		}
		return made, nil
	}
	s[name] = shape{}
	var fields []reflect.StructField
	whole := shape{fields: message.Fields().Len()}
	for i := range message.Fields().Len() {
		field, of, err := s.field(message.Fields().Get(i))
		if err != nil {
			return shape{}, err
		}
		fields = append(fields, field)
		whole.fields += of.fields
		whole.depth = max(whole.depth, of.depth+1)
		if whole.fields > maxFields || whole.depth > maxDepth {
			return shape{}, fmt.Errorf("message type %s is too large for a struct: at most %d fields, those of its fields' types counted, and %d messages within each other",
				name, maxFields, maxDepth)
		}
	}
	whole.goType = reflect.StructOf(fields)
	s[name] = whole
	return whole, nil
}

// field makes the struct field for a message's field. Its Go name is never
// seen: JSON knows it by its tag.
func (s shapes) field(field protoreflect.FieldDescriptor) (reflect.StructField, shape, error) {
	goType, of, err := s.typeOf(field)
	if err != nil {
		return reflect.StructField{}, shape{}, err
	}
	tag, err := tag(field, goType)
	if err != nil {
		return reflect.StructField{}, shape{}, err
	}
	if field.HasPresence() && goType.Kind() != reflect.Interface && !isTime(field.Message()) {
		goType = reflect.PointerTo(goType)
	}
	return reflect.StructField{Name: "F" + strconv.Itoa(int(field.Number())), Type: goType, Tag: tag}, of, nil
}

// typeOf makes the Go type of a field, presence aside.
func (s shapes) typeOf(field protoreflect.FieldDescriptor) (reflect.Type, shape, error) {
	switch {
	case field.IsMap():
		goType, of, err := s.value(field.MapValue())
		if err != nil {
			return nil, shape{}, err
		}
		return reflect.MapOf(key(field.MapKey()), inside(goType)), of, nil
	case field.IsList():
		goType, of, err := s.value(field)
		if err != nil {
			return nil, shape{}, err
		}
		return reflect.SliceOf(inside(goType)), of, nil
	}
	return s.value(field)
}

// value makes the Go type of one value of a field.
func (s shapes) value(field protoreflect.FieldDescriptor) (reflect.Type, shape, error) {
	if message := field.Message(); message != nil {
		if t, known := wellKnown(message); known {
			return t, shape{}, nil
		}
		made, err := s.message(message)
		return made.goType, made, err
	}
	if enum := field.Enum(); enum != nil && enum.FullName() == "google.protobuf.NullValue" {
		return anything, shape{}, nil
	}
	return scalar(field.Kind()), shape{}, nil
}

// inside puts the messages of a list or map behind pointers.
func inside(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Struct {
		return reflect.PointerTo(t)
	}
	return element(t)
}

// element is the type of a value that no tag can make a string in JSON.
func element(t reflect.Type) reflect.Type {
	switch t {
	case anInt64:
		return reflect.TypeFor[int64Text]()
	case aUint64:
		return reflect.TypeFor[uint64Text]()
	}
	return t
}

func key(field protoreflect.FieldDescriptor) reflect.Type {
	if field.Kind() == protoreflect.BoolKind {
		return aString // encoding/json knows no keys that are true or false
	}
	return scalar(field.Kind())
}

// tag writes a field's tag. The error is about a name that none can hold.
func tag(field protoreflect.FieldDescriptor, goType reflect.Type) (reflect.StructTag, error) {
	name := field.JSONName()
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return "", fmt.Errorf("field %s has JSON name %q, which encoding/json cannot have: a name is letters, digits and most punctuation, without %q", field.FullName(), name, r)
		}
	}
	text := name
	if goType == anInt64 || goType == aUint64 {
		text += ",string"
	}
	return reflect.StructTag("json:" + strconv.Quote(text+",omitempty")), nil
}

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
