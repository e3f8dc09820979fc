package target

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// resolver finds the types of the content of an Any, and of extensions: among the files
// that describe the service, and then among the types that this program knows.
type resolver struct {
	types  *dynamicpb.Types
	origin string
}

func (s *typeSource) resolver() *resolver {
	return &resolver{dynamicpb.NewTypes(s.files), s.origin}
}

// FindMessageByName implements protoregistry.MessageTypeResolver.
func (r *resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if t, err := r.types.FindMessageByName(name); err == nil {
		return t, nil
	}
	t, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if errors.Is(err, protoregistry.NotFound) {
		err = fmt.Errorf("%s does not describe it; give a --proto FILE that imports it", r.origin)
	}
	return t, err
}

// FindMessageByURL implements protoregistry.MessageTypeResolver.
func (r *resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	name := protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])
	if !name.IsValid() {
		return nil, errors.New("it is no name of a type; expected one such as type.googleapis.com/pkg.Message")
	}
	return r.FindMessageByName(name)
}

// FindExtensionByName implements protoregistry.ExtensionTypeResolver.
func (r *resolver) FindExtensionByName(name protoreflect.FullName) (protoreflect.ExtensionType, error) {
	if t, err := r.types.FindExtensionByName(name); err == nil {
		return t, nil
	}
	return protoregistry.GlobalTypes.FindExtensionByName(name)
}

// FindExtensionByNumber implements protoregistry.ExtensionTypeResolver.
func (r *resolver) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	if t, err := r.types.FindExtensionByNumber(message, field); err == nil {
		return t, nil
	}
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, field)
}
