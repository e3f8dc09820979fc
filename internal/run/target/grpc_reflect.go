package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/quantity"
)

// mostFiles and mostDescribed bound the files that a server may describe a service by,
// and their bytes together: a type takes many times the memory of its description.
const (
	mostFiles     = 1024
	mostDescribed = 8 << 20
)

// reflectionVersions are asked in this order. Both versions have the same messages on the
// wire, so that the message types of v1 serve for both.
var reflectionVersions = []string{"v1", "v1alpha"}

// reflector asks a server's reflection.
type reflector struct {
	stream    grpc.ClientStream
	version   string
	described int // bytes of files that came
}

// mostServices bounds how many are asked about where a URL leaves out which.
const mostServices = 64

// reflect asks the server which services it has, and for the files of one; of all
// where it has none of that name, as a URL may leave out what is clear without.
func reflect(ctx context.Context, conn *grpc.ClientConn, u *url.URL) (*typeSource, error) {
	stream, cancel := context.WithCancel(ctx) // ends the stream
	defer cancel()
	r, names, err := openReflection(stream, conn)
	switch code := status.Code(err); {
	case code == codes.Unimplemented:
		return nil, fmt.Errorf("%s has no server reflection; give --proto FILE", address(u))
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		return nil, fmt.Errorf("%s refuses server reflection (%s: %s); give --proto FILE, or the metadata that it wants with -H",
			address(u), code, quantity.Clip(status.Convert(err).Message(), 120))
	case err != nil:
		return nil, answered(ctx, u, "server reflection of "+address(u), err)
	}
	s := &typeSource{services: names, origin: "reflection (" + r.version + ")"}
	about := names[:min(len(names), mostServices)]
	for _, w := range readings(u) {
		if slices.Contains(names, w.service) {
			about = []string{w.service}
		}
	}
	if s.files, err = r.files(about); err != nil {
		return nil, fmt.Errorf("%s of %s: %w; give --proto FILE", s.origin, address(u), err)
	}
	return s, nil
}

// openReflection begins with the newest version of reflection that the server has. The error is
// a status.
func openReflection(ctx context.Context, conn *grpc.ClientConn) (r *reflector, names []string, err error) {
	for _, version := range reflectionVersions {
		if r, names, err = begin(ctx, conn, version); status.Code(err) != codes.Unimplemented {
			break
		}
	}
	return r, names, err
}

// begin opens a stream of reflection and lists the services.
func begin(ctx context.Context, conn *grpc.ClientConn, version string) (*reflector, []string, error) {
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := conn.NewStream(ctx, desc, "/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
	if err != nil {
		return nil, nil, err
	}
	r := &reflector{stream: stream, version: version}
	reply, err := r.ask(&v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_ListServices{}})
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, s := range reply.GetListServicesResponse().GetService() {
		if !strings.HasPrefix(s.GetName(), "grpc.reflection.") {
			names = append(names, s.GetName())
		}
	}
	slices.Sort(names)
	return r, names, nil
}

// ask makes one request on the stream. The error is a status.
func (r *reflector) ask(request *v1.ServerReflectionRequest) (*v1.ServerReflectionResponse, error) {
	reply := new(v1.ServerReflectionResponse)
	// A send that fails with io.EOF has its reason in what is received.
	if err := r.stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := r.stream.RecvMsg(reply); err != nil {
		return nil, err
	}
	if refused := reply.GetErrorResponse(); refused != nil {
		return nil, status.Error(codes.Code(refused.GetErrorCode()), refused.GetErrorMessage())
	}
	return reply, nil
}

// files asks for the files of services and for all that they import. A server may
// send them together or one by one.
func (r *reflector) files(services []string) (*protoregistry.Files, error) {
	known := map[string]*descriptorpb.FileDescriptorProto{}
	for _, service := range services {
		err := r.takeFiles(known, &v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}})
		if err != nil && len(services) == 1 { // of several, one that is not described is not found
			return nil, err
		}
	}
	var err error
	for missing := ""; err == nil; {
		if missing = lacking(known); missing == "" {
			break
		}
		if standard, found := protoregistry.GlobalFiles.FindFileByPath(missing); found == nil && strings.HasPrefix(missing, "google/protobuf/") {
			known[missing] = protodesc.ToFileDescriptorProto(standard)
			continue
		}
		err = r.takeFiles(known, &v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_FileByFilename{FileByFilename: missing}})
		if err == nil && known[missing] == nil {
			err = fmt.Errorf("it does not describe the file %s, which others import", missing)
		}
	}
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range known {
		set.File = append(set.File, f)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("its descriptors do not fit together: %w", err)
	}
	return files, nil
}

// takeFiles adds the files of a reply.
func (r *reflector) takeFiles(known map[string]*descriptorpb.FileDescriptorProto, request *v1.ServerReflectionRequest) error {
	reply, err := r.ask(request)
	if err != nil {
		return err
	}
	for _, text := range reply.GetFileDescriptorResponse().GetFileDescriptorProto() {
		if r.described += len(text); r.described > mostDescribed {
			return fmt.Errorf("it describes the service by more than %s", quantity.FormatBytes(mostDescribed))
		}
		f := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(text, f); err != nil {
			return fmt.Errorf("a descriptor does not decode: %w", err)
		}
		if known[f.GetName()] = f; len(known) > mostFiles {
			return fmt.Errorf("it describes the service by more than %d files", mostFiles)
		}
	}
	return nil
}

// lacking is a file that is imported and not known; "" when there is none.
func lacking(known map[string]*descriptorpb.FileDescriptorProto) string {
	for _, f := range known {
		for _, imported := range f.GetDependency() {
			if known[imported] == nil {
				return imported
			}
		}
	}
	return ""
}
