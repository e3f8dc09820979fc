package message

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Files compiles a .proto with its imports, as Resolve does, and returns its
// descriptor and those of all of them.
func Files(file string, read func(path string) ([]byte, error)) (own protoreflect.FileDescriptor, all *protoregistry.Files, err error) {
	s, err := compile(file, read)
	if err != nil {
		return nil, nil, err
	}
	return s.own, s.files, nil
}
