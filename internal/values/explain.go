package values

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"netdyno/internal/quantity"
)

// explain turns an error of protojson into one that says where in the message
// it is, and what was expected there. What it has no better words for keeps
// those of protojson.
func explain(text []byte, message protoreflect.MessageDescriptor, err error) *MisfitError {
	said, line, column := place(spoken(err))
	misfit := &MisfitError{Line: line, Column: column, Text: said}
	if line == 0 {
		return misfit
	}
	path, key, found := locate(text, offset(text, line, column))
	misfit.Path = pathText(path)
	at := follow(message, path)
	switch {
	case strings.HasPrefix(said, "unknown field") && at.message != nil:
		misfit.Text = fmt.Sprintf("no field %s in %s; %s", found, at.message.FullName(), quantity.Hint(strings.Trim(found, `"`), fieldNames(at.message)))
	case strings.HasPrefix(said, unresolved):
		misfit.Text = "type " + reasoned(said[len(unresolved):])
	case strings.HasPrefix(said, "duplicate "):
		misfit.Text = found + " is there twice"
	case strings.HasSuffix(said, "is already set"):
		misfit.Text = fmt.Sprintf("%s is one too many: %s", found, said[strings.Index(said, "oneof "):])
	case key || found == "" || !mismatch(said):
	case enumOf(at) != nil && strings.HasPrefix(found, `"`):
		enum := enumOf(at)
		misfit.Text = fmt.Sprintf("no value %s in enum %s; %s", found, enum.FullName(), quantity.Hint(strings.Trim(found, `"`), valueNames(enum)))
	default:
		if expected := expected(at); expected != "" {
			misfit.Text = fmt.Sprintf("expected %s, found %s", expected, found)
		}
	}
	return misfit
}

// unresolved begins what protojson says of an Any whose type nobody knows.
const unresolved = "unable to resolve "

// reasoned takes the quotes off the resolver's error, which follows the type.
func reasoned(said string) string {
	name, quoted, _ := strings.Cut(said, ": ")
	why, err := strconv.Unquote(quoted)
	if err != nil {
		why = quoted
	}
	return name + " is not known: " + why
}

// mismatch tells whether protojson found a value where it expected another.
func mismatch(said string) bool {
	for _, beginning := range []string{"invalid value for ", "unexpected token ", "invalid google.protobuf."} {
		if strings.HasPrefix(said, beginning) {
			return true
		}
	}
	return strings.HasPrefix(said, "google.protobuf.") && strings.Contains(said, " value out of range")
}

func fieldNames(message protoreflect.MessageDescriptor) []string {
	var names []string
	for i := range message.Fields().Len() {
		names = append(names, message.Fields().Get(i).JSONName())
	}
	return names
}

func valueNames(enum protoreflect.EnumDescriptor) []string {
	var names []string
	for i := range enum.Values().Len() {
		names = append(names, string(enum.Values().Get(i).Name()))
	}
	return names
}

func enumOf(at spot) protoreflect.EnumDescriptor {
	if at.field == nil || at.whole {
		return nil
	}
	return at.field.Enum()
}

// expected says in words what belongs at a spot; nothing where that is not known.
func expected(at spot) string {
	switch {
	case at.field == nil && at.message == nil:
		return ""
	case at.whole && at.field.IsMap():
		return fmt.Sprintf("an object of %s → %s", kind(at.field.MapKey()), kind(at.field.MapValue()))
	case at.whole:
		return "an array of " + kind(at.field)
	case at.field == nil:
		return object(at.message)
	}
	switch at.field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return object(at.message)
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BytesKind:
		return "bytes as base64 in a string"
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return "a whole number from -2147483648 to 2147483647"
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return "a whole number from 0 to 4294967295"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return "a whole number of 64 bits, in a string or bare"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return "a whole number of 64 bits from 0, in a string or bare"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return fmt.Sprintf("a number (%s)", at.field.Kind())
	case protoreflect.EnumKind:
		return "a value of enum " + string(at.field.Enum().FullName())
	}
	return ""
}

// object is what a message of this type looks like in JSON.
func object(message protoreflect.MessageDescriptor) string {
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return `a time such as "2026-11-21T22:40:00Z"`
	case "google.protobuf.Duration":
		return `a duration such as "1.5s"`
	case "google.protobuf.FieldMask":
		return `field names such as "id,customer.name"`
	}
	if message.ParentFile().Path() == "google/protobuf/wrappers.proto" {
		return expected(spot{field: message.Fields().Get(0)})
	}
	return fmt.Sprintf("an object (%s)", message.FullName())
}

// kind is the type of a field as its .proto writes it.
func kind(field protoreflect.FieldDescriptor) string {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return string(field.Message().FullName())
	case protoreflect.EnumKind:
		return string(field.Enum().FullName())
	default:
		return field.Kind().String()
	}
}
