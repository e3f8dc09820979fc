package target

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"netdyno/internal/contract"
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
		return reflect(ctx, conn, u)
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

// wanted is a service and a method that a URL's path may name, each "" where it
// names none.
type wanted struct{ service, method string }

// readings are what a URL's path may name: it is cut at the slash, or where it has
// none at the last dot, as in pkg.Service.Method.
func readings(u *url.URL) []wanted {
	path := strings.Trim(u.Path, "/")
	service, method, _ := strings.Cut(path, "/")
	all := []wanted{{service, method}}
	if dot := strings.LastIndexByte(path, '.'); dot > 0 && !strings.Contains(path, "/") {
		all = append(all, wanted{path[:dot], path[dot+1:]})
	}
	return all
}

// method finds the method that a URL names. The URL may leave out the package, the
// service or all of it where one method alone, or one unary method, fits what is left.
func (s *typeSource) method(u *url.URL) (protoreflect.MethodDescriptor, error) {
	read := readings(u)
	for _, w := range read {
		fit := s.fitting(w)
		if unary := slices.DeleteFunc(slices.Clone(fit), func(m protoreflect.MethodDescriptor) bool { return streams(m) != "" }); len(unary) == 1 {
			fit = unary
		}
		if len(fit) == 1 {
			return fit[0], nil
		}
	}
	meant := read[0]
	for _, w := range read {
		if len(s.fitting(w)) > 0 || s.fullName(w.service) != "" {
			meant = w
		}
	}
	return nil, s.refusal(u, meant)
}

// refusal says why no method was found, or more than one.
func (s *typeSource) refusal(u *url.URL, w wanted) error {
	fit := s.fitting(w)
	full := s.fullName(w.service)
	named := w.method != "" || full == "" // the method, not its service alone
	switch {
	case w.service == "":
		return fmt.Errorf("%s names no method; expected grpc://%s/pkg.Service/Method, by %s with a service %s", u, u.Host, s.origin, oneOf(s.services))
	case named && len(fit) > 1:
		return fmt.Errorf("%s fits several methods; expected one of %s", u, oneOf(pathsOf(fit)))
	case full == "":
		return fmt.Errorf("%s has no service %q, by %s; %s", address(u), quantity.Clip(w.service, 80), s.origin, quantity.Clip(quantity.Hint(w.service, s.services), 300))
	}
	of := s.describes(full)
	if of == nil {
		return fmt.Errorf("%s lists service %s and does not describe it; give --proto FILE", s.origin, full)
	}
	if w.method != "" {
		return fmt.Errorf("service %s has no method %q, by %s; %s", full, quantity.Clip(w.method, 80), s.origin, quantity.Hint(w.method, short(methods(of))))
	}
	return fmt.Errorf("%s names no method of %s; expected one of %s", u, full, oneOf(short(methods(of))))
}

// fullName is the service that a name stands for, whose package may be left out; ""
// where none or several are called so.
func (s *typeSource) fullName(service string) string {
	var found []string
	for _, full := range s.services {
		if full == service {
			return full
		}
		if strings.HasSuffix(full, "."+service) {
			found = append(found, full)
		}
	}
	if service == "" || len(found) != 1 {
		return ""
	}
	return found[0]
}

// describes is a service by its full name; nil where it is only listed.
func (s *typeSource) describes(full string) protoreflect.ServiceDescriptor {
	if s.files == nil {
		return nil
	}
	found, _ := s.files.FindDescriptorByName(protoreflect.FullName(full))
	of, _ := found.(protoreflect.ServiceDescriptor)
	return of
}

// fitting are the methods that fit what a URL names.
func (s *typeSource) fitting(w wanted) (fit []protoreflect.MethodDescriptor) {
	for _, full := range s.services {
		of := s.describes(full)
		if of == nil {
			continue
		}
		named := w.service == "" || full == w.service || strings.HasSuffix(full, "."+w.service)
		for _, m := range methods(of) {
			alone := w.method == "" && string(m.Name()) == w.service
			if alone || named && (w.method == "" || string(m.Name()) == w.method) {
				fit = append(fit, m)
			}
		}
	}
	return fit
}

func methods(of protoreflect.ServiceDescriptor) []protoreflect.MethodDescriptor {
	all := make([]protoreflect.MethodDescriptor, of.Methods().Len())
	for i := range all {
		all[i] = of.Methods().Get(i)
	}
	return all
}

// streams says which messages of a method are streams; "" for a unary one.
func streams(m protoreflect.MethodDescriptor) contract.Stream {
	switch {
	case m.IsStreamingClient() && m.IsStreamingServer():
		return contract.StreamBoth
	case m.IsStreamingClient():
		return contract.StreamUp
	case m.IsStreamingServer():
		return contract.StreamDown
	}
	return ""
}

// path is a method's as a call names it.
func path(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
}

func pathsOf(all []protoreflect.MethodDescriptor) (out []string) {
	for _, m := range all {
		out = append(out, path(m))
	}
	return out
}

func short(all []protoreflect.MethodDescriptor) (out []string) {
	for _, m := range all {
		out = append(out, string(m.Name()))
	}
	return out
}

// oneOf lists names, as far as they fit into a sentence.
func oneOf(names []string) string {
	if len(names) == 0 {
		return "(there is none)"
	}
	return quantity.Clip(strings.Join(names, ", "), 200)
}
