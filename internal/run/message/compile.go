package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/values"
)

// schema is a compiled .proto.
type schema struct {
	file        string // as the user named it
	descriptors []byte // a serialized FileDescriptorSet: the file after all that it imports
	own         protoreflect.FileDescriptor
	files       *protoregistry.Files
	resolver    *dynamicpb.Types
}

// compile reads file and what it imports. The error of a file that does not
// parse begins with its path, line and column.
func compile(file string, read func(string) ([]byte, error)) (*schema, error) {
	sources := &sources{root: file, read: read, paths: map[string]string{}}
	compiler := protocompile.Compiler{Resolver: protocompile.ResolverFunc(sources.find)}
	name := path.Base(filepath.ToSlash(file))
	compiled, err := compiler.Compile(context.Background(), name)
	if err = sources.end(err); err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	collect(&set, compiled[0], map[string]bool{})
	s := &schema{file: file}
	if s.descriptors, err = (proto.MarshalOptions{Deterministic: true}).Marshal(&set); err != nil {
		return nil, fmt.Errorf("describe %s: %w", file, err)
	}
	if s.files, err = protodesc.NewFiles(&set); err != nil { // as a worker will
		return nil, fmt.Errorf("link %s: %w", file, err)
	}
	if s.own, err = s.files.FindFileByPath(name); err != nil {
		return nil, fmt.Errorf("link %s: %w", file, err)
	}
	s.resolver = dynamicpb.NewTypes(s.files)
	return s, nil
}

// collect appends a file after its imports, each once.
func collect(set *descriptorpb.FileDescriptorSet, file protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		collect(set, file.Imports().Get(i).FileDescriptor, seen)
	}
	described := protodesc.ToFileDescriptorProto(file)
	if result, ok := file.(linker.Result); ok {
		described = result.FileDescriptorProto()
	}
	set.File = append(set.File, described)
}

// content reads the values of one message and checks that they fit.
func (s *schema) content(name, file string, read func(string) ([]byte, error)) (contract.Content, error) {
	found, err := s.files.FindDescriptorByName(protoreflect.FullName(name))
	message, ok := found.(protoreflect.MessageDescriptor)
	if err != nil || !ok || message.IsMapEntry() {
		return contract.Content{}, fmt.Errorf("%s: no message type %q; %s", s.file, name, nearest(name, messages(s.own)))
	}
	text, err := read(file)
	if err != nil {
		return contract.Content{}, fmt.Errorf("read %s: %w", file, reason(err))
	}
	if err := values.Read(text, dynamicpb.NewMessage(message), s.resolver); err != nil {
		return contract.Content{}, misfit(file, name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return contract.Content{}, fmt.Errorf("%s: %w", file, err)
	}
	return contract.Content{Type: name, JSON: compact.String()}, nil
}

func misfit(file, name string, err error) error {
	var of *values.MisfitError
	if errors.As(err, &of) && of.Line > 0 {
		return fmt.Errorf("%s:%d:%d: %s", file, of.Line, of.Column, of.Text)
	}
	return fmt.Errorf("%s: %w (%s)", file, err, name)
}

// nearest is a hint at the type that was meant: one whose package or outer
// message was left out, or else one that is written alike.
func nearest(name string, types []string) string {
	for _, full := range types {
		if strings.HasSuffix(full, "."+name) {
			return fmt.Sprintf("did you mean %q?", full)
		}
	}
	return quantity.Hint(name, types)
}

// messages are the full names of a file's message types, nested ones included.
func messages(file protoreflect.FileDescriptor) []string {
	var names []string
	var add func(protoreflect.MessageDescriptors)
	add = func(types protoreflect.MessageDescriptors) {
		for i := range types.Len() {
			if t := types.Get(i); !t.IsMapEntry() {
				names = append(names, string(t.FullName()))
				add(t.Messages())
			}
		}
	}
	add(file.Messages())
	return names
}

// Files compiles a .proto with its imports, as Resolve does, and returns its
// descriptor and those of all of them.
func Files(file string, read func(path string) ([]byte, error)) (own protoreflect.FileDescriptor, all *protoregistry.Files, err error) {
	s, err := compile(file, read)
	if err != nil {
		return nil, nil, err
	}
	return s.own, s.files, nil
}
