package probe

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/run/message"
)

// typeSource is what is known of a server's services.
type typeSource struct {
	files    *protoregistry.Files // the wanted service's, if there is one
	services []string             // all that there are
	origin   string               // "reflection (v1)", or the name of a .proto
}

// types reads the user's .proto, or else asks the server's reflection.
func (t Target) types(ctx context.Context, conn *grpc.ClientConn, u *url.URL) (*typeSource, error) {
	if t.Proto == "" {
		service, _ := wanted(u)
		return reflect(ctx, conn, u, service)
	}
	_, files, err := message.Files(t.Proto, input.Within(ctx, message.MaxProto+1)) // one byte more shows that a file is too large
	if err != nil {
		return nil, err
	}
	s := &typeSource{files: files, origin: t.Proto}
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s.services = append(s.services, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	slices.Sort(s.services)
	return s, nil
}

// wanted is the service and the method that a URL's path names, each "" where it
// names none.
func wanted(u *url.URL) (service, method string) {
	service, method, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	return service, method
}

// method finds the unary method that a URL names. The URL may leave out the
// package, the service or all of it where one method alone fits what is left.
func (s *typeSource) method(u *url.URL) (protoreflect.MethodDescriptor, error) {
	service, name := wanted(u)
	if m := s.only(service, name); m != nil {
		return m, nil
	}
	if service == "" {
		return nil, fmt.Errorf("%s names no method; expected grpc://%s/pkg.Service/Method, by %s with a service %s", u, u.Host, s.origin, oneOf(s.services))
	}
	if !slices.Contains(s.services, service) {
		return nil, fmt.Errorf("%s has no service %q, by %s; %s", address(u), quantity.Clip(service, 80), s.origin, nearestService(service, s.services))
	}
	found, err := s.files.FindDescriptorByName(protoreflect.FullName(service))
	of, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s lists service %s and does not describe it; give --proto FILE", s.origin, service)
	}
	var unary []string
	for i := range of.Methods().Len() {
		if m := of.Methods().Get(i); !streams(m) {
			unary = append(unary, string(m.Name()))
		}
	}
	if name == "" {
		return nil, fmt.Errorf("%s names no method of %s; expected one that is unary: %s", u, service, oneOf(unary))
	}
	m := of.Methods().ByName(protoreflect.Name(name))
	switch {
	case m == nil:
		return nil, fmt.Errorf("service %s has no method %q, by %s; %s", service, quantity.Clip(name, 80), s.origin, quantity.Hint(name, unary))
	case streams(m):
		return nil, fmt.Errorf("method %s of %s streams, and a unary one is expected, with one request and one reply: %s", name, service, oneOf(unary))
	}
	return m, nil
}

// only is the one unary method that fits what a URL names of it; nil when none or
// several do.
func (s *typeSource) only(service, name string) protoreflect.MethodDescriptor {
	var fit []protoreflect.MethodDescriptor
	for _, full := range s.services {
		if s.files == nil {
			return nil
		}
		found, _ := s.files.FindDescriptorByName(protoreflect.FullName(full))
		of, described := found.(protoreflect.ServiceDescriptor)
		if !described {
			continue
		}
		named := service == "" || full == service || strings.HasSuffix(full, "."+service)
		for i := range of.Methods().Len() {
			m := of.Methods().Get(i)
			alone := name == "" && string(m.Name()) == service
			if !streams(m) && (alone || named && (name == "" || string(m.Name()) == name)) {
				fit = append(fit, m)
			}
		}
	}
	if len(fit) != 1 {
		return nil
	}
	return fit[0]
}

func streams(m protoreflect.MethodDescriptor) bool {
	return m.IsStreamingClient() || m.IsStreamingServer()
}

// oneOf lists names, as far as they fit into a sentence.
func oneOf(names []string) string {
	if len(names) == 0 {
		return "(there is none)"
	}
	return quantity.Clip(strings.Join(names, ", "), 200)
}

// nearestService is a hint at the service that was meant: one whose package was
// left out, or one that is written alike.
func nearestService(name string, services []string) string {
	for _, full := range services {
		if strings.HasSuffix(full, "."+name) {
			return fmt.Sprintf("did you mean %q?", full)
		}
	}
	return quantity.Clip(quantity.Hint(name, services), 300)
}
