package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // the details that most servers send
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"

	"netdyno/internal/quantity"
)

// resolver finds the types of the content of an Any, and of extensions: first among the
// files that describe the service, then among the types that this program knows, then by
// the server's reflection. One goroutine may use it.
type resolver struct {
	ctx    context.Context
	conn   *grpc.ClientConn
	types  []*dynamicpb.Types
	origin string          // of the first of types
	asked  map[string]bool // what reflection was asked for
}

// resolver returns what finds types by name until ctx ends.
func (s *typeSource) resolver(ctx context.Context, conn *grpc.ClientConn) *resolver {
	return &resolver{ctx: ctx, conn: conn, types: []*dynamicpb.Types{dynamicpb.NewTypes(s.files)}, origin: s.origin, asked: map[string]bool{}}
}

// found looks a name up in all types that are known, and again after reflection was
// asked for it.
func found[T any](r *resolver, name string, own func(*dynamicpb.Types) (T, error), global func() (T, error)) (T, error) {
	for {
		for _, types := range r.types {
			if t, err := own(types); err == nil {
				return t, nil
			}
		}
		if t, err := global(); err == nil {
			return t, nil
		}
		if err := r.learn(name); err != nil {
			var none T
			return none, err
		}
	}
}

// learn asks reflection for a name, once.
func (r *resolver) learn(name string) error {
	if r.asked[name] {
		return fmt.Errorf("%s does not describe it", r.origin)
	}
	r.asked[name] = true
	var files *protoregistry.Files
	err := timed(r.ctx, new([]time.Duration), func(ctx context.Context) (err error) {
		files, err = describe(ctx, r.conn, name)
		return err
	})
	if err != nil {
		said := err.Error()
		if s, ok := status.FromError(err); ok {
			said = s.Message()
		}
		who := "the server's reflection does not describe"
		if !strings.HasPrefix(r.origin, "reflection ") {
			who = "neither " + r.origin + " nor the server's reflection describes"
		}
		return fmt.Errorf("%s it (%s); give a --proto FILE that imports it", who, quantity.Clip(said, 120))
	}
	r.types = append(r.types, dynamicpb.NewTypes(files))
	return nil
}

// FindMessageByName implements protoregistry.MessageTypeResolver.
func (r *resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	return found(r, string(name),
		func(t *dynamicpb.Types) (protoreflect.MessageType, error) { return t.FindMessageByName(name) },
		func() (protoreflect.MessageType, error) { return protoregistry.GlobalTypes.FindMessageByName(name) })
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
	return found(r, string(name),
		func(t *dynamicpb.Types) (protoreflect.ExtensionType, error) { return t.FindExtensionByName(name) },
		func() (protoreflect.ExtensionType, error) { return protoregistry.GlobalTypes.FindExtensionByName(name) })
}

// FindExtensionByNumber implements protoregistry.ExtensionTypeResolver: of what is
// known, as it is called for fields that a message need not have a name for.
func (r *resolver) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	for _, types := range r.types {
		if t, err := types.FindExtensionByNumber(message, field); err == nil {
			return t, nil
		}
	}
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, field)
}

// mostDetails bounds the details of a status that are shown.
const mostDetails = 8

// details writes the details of a status; "" when it has none. Their types are the
// server's to name, and one may hold another, so they have the time of a greeting
// together.
func (r *resolver) details(s *status.Status) string {
	within, cancel := context.WithTimeout(r.ctx, greeting)
	defer cancel()
	hurried := *r
	hurried.ctx = within
	r = &hurried
	var all []string
	for _, detail := range s.Proto().GetDetails() {
		if len(all) == mostDetails {
			all = append(all, "…")
			break
		}
		all = append(all, r.detail(detail))
	}
	if len(all) == 0 {
		return ""
	}
	return "; details: " + quantity.Clip(strings.Join(all, ", "), 400)
}

// detail writes one: its values as JSON where its type is known, else its size.
func (r *resolver) detail(detail *anypb.Any) string {
	name := string(detail.MessageName())
	message, err := anypb.UnmarshalNew(detail, proto.UnmarshalOptions{Resolver: r})
	var text []byte
	if err == nil {
		text, err = protojson.MarshalOptions{Resolver: r}.Marshal(message)
	}
	var compact bytes.Buffer // the library's spaces are not always the same
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		return fmt.Sprintf("%s of %d bytes", quantity.Clip(name, 80), len(detail.GetValue()))
	}
	return name + " " + compact.String()
}
