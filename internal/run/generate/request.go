package generate

import (
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"netdyno/internal/contract"
)

// generation is what protoc-gen-go is asked, and the Go packages that it fills.
type generation struct {
	request  []byte            // a serialized CodeGeneratorRequest
	packages map[string]string // by the name of the file that is generated: its directory
}

// generationOf asks for Go code for all files of descriptors but protobuf's
// own. Nothing in the answer has a name of the user's files or packages: files
// are numbered, and every type moves into contract.GeneratedPackage, so that
// it can neither meet what a worker links already nor be mistaken for it.
func generationOf(descriptors []byte, importPath string) (generation, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(descriptors, &set); err != nil {
		return generation{}, fmt.Errorf("parse descriptors: %w", err)
	}
	r := renaming{prefix: contract.GeneratedPackage(descriptors), files: map[string]string{}, types: map[string]bool{}}
	for _, f := range set.File {
		if !standard(f) {
			r.files[f.GetName()] = fmt.Sprintf("f%d.proto", len(r.files))
			r.declare("."+f.GetPackage(), f.MessageType, f.EnumType)
		}
	}
	g := generation{packages: map[string]string{}}
	request := &pluginpb.CodeGeneratorRequest{ProtoFile: set.File}
	parameters := []string{"paths=source_relative"}
	for _, f := range set.File {
		if standard(f) {
			continue
		}
		r.file(f)
		directory := "p" + strings.TrimSuffix(strings.TrimPrefix(f.GetName(), "f"), ".proto")
		request.FileToGenerate = append(request.FileToGenerate, f.GetName())
		parameters = append(parameters, "M"+f.GetName()+"="+path.Join(importPath, directory))
		g.packages[strings.TrimSuffix(f.GetName(), ".proto")+".pb.go"] = directory
	}
	request.Parameter = proto.String(strings.Join(parameters, ","))
	var err error
	g.request, err = proto.MarshalOptions{Deterministic: true}.Marshal(request)
	return g, err
}

// standard holds for the files that come with protobuf's Go library.
func standard(f *descriptorpb.FileDescriptorProto) bool {
	return strings.HasPrefix(f.GetName(), "google/protobuf/") &&
		strings.HasPrefix(f.GetOptions().GetGoPackage(), "google.golang.org/protobuf/")
}

// renaming moves files and types.
type renaming struct {
	prefix string
	files  map[string]string // new names by old
	types  map[string]bool   // full names with a leading dot of all that moves
}

// declare enters the types of a scope.
func (r *renaming) declare(scope string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	if scope != "." {
		scope += "."
	}
	for _, e := range enums {
		r.types[scope+e.GetName()] = true
	}
	for _, m := range messages {
		r.types[scope+m.GetName()] = true
		r.declare(scope+m.GetName(), m.NestedType, m.EnumType)
	}
}

// file moves a file with all its types, and leaves out what has no part in
// encoding: services, and the user's own options, whose numbers all programs
// in the world share.
func (r *renaming) file(f *descriptorpb.FileDescriptorProto) {
	f.Name = proto.String(r.files[f.GetName()])
	f.Package = proto.String(strings.TrimSuffix(r.prefix+"."+f.GetPackage(), "."))
	for i, name := range f.Dependency {
		if moved, own := r.files[name]; own {
			f.Dependency[i] = moved
		}
	}
	f.Service, f.SourceCodeInfo = nil, nil
	if f.Options != nil {
		f.Options.GoPackage = nil
	}
	f.Extension = r.extensions(f.Extension)
	r.messages(f.MessageType)
}

func (r *renaming) messages(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		r.fields(m.Field)
		m.Extension = r.extensions(m.Extension)
		r.messages(m.NestedType)
	}
}

func (r *renaming) extensions(all []*descriptorpb.FieldDescriptorProto) []*descriptorpb.FieldDescriptorProto {
	var kept []*descriptorpb.FieldDescriptorProto
	for _, x := range all {
		if r.types[x.GetExtendee()] {
			kept = append(kept, x)
		}
	}
	r.fields(kept)
	return kept
}

func (r *renaming) fields(fields []*descriptorpb.FieldDescriptorProto) {
	for _, f := range fields {
		for _, name := range []**string{&f.TypeName, &f.Extendee} {
			if *name != nil && r.types[**name] {
				*name = proto.String("." + r.prefix + **name)
			}
		}
	}
}

// files returns the files of protoc-gen-go's answer, by name. A name that was
// not asked for is an error.
func (g generation) files(answer []byte) (map[string]string, error) {
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("read what protoc-gen-go answered: %w", err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("generate code: %s", printable(response.GetError()))
	}
	files := map[string]string{}
	for _, f := range response.File {
		if g.packages[f.GetName()] == "" {
			return nil, fmt.Errorf("generate code: a file %q, which was not asked for", f.GetName())
		}
		files[f.GetName()] = f.GetContent()
	}
	if len(files) != len(g.packages) {
		return nil, fmt.Errorf("generate code: %d files for %d", len(files), len(g.packages))
	}
	return files, nil
}
