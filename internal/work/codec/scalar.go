package codec

import (
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
)

var (
	anything = reflect.TypeFor[any]()
	aString  = reflect.TypeFor[string]()
	anInt64  = reflect.TypeFor[int64]()
	aUint64  = reflect.TypeFor[uint64]()
)

// scalar returns the Go type for a field that holds no message.
func scalar(kind protoreflect.Kind) reflect.Type {
	switch kind {
	case protoreflect.BoolKind:
		return reflect.TypeFor[bool]()
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return reflect.TypeFor[int32]()
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return reflect.TypeFor[uint32]()
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return anInt64
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return aUint64
	case protoreflect.FloatKind:
		return reflect.TypeFor[float32]()
	case protoreflect.DoubleKind:
		return reflect.TypeFor[float64]()
	case protoreflect.BytesKind:
		return reflect.TypeFor[[]byte]()
	default: // string, enum
		return aString
	}
}
