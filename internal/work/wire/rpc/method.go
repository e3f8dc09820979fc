// Package rpc is what the transports of service netdyno.v1.Exchange
// (exchange.proto) have in common, whichever library and protocol carry it: which
// method carries a trial, and how content is cut into the messages of a stream.
package rpc

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Service is the service of exchange.proto.
const Service = "netdyno.v1.Exchange"

// Method is the name of a method. The zero value names none.
type Method struct{ Service, Name string }

// String returns the method as every protocol here writes it: /package.Service/Method.
func (m Method) String() string { return "/" + m.Service + "/" + m.Name }

// Own carries messages of a user's own. It is the default of option method.
var Own = Method{Service, "Own"}

// Methods carry a trial's whole messages: Unary one exchange with each call, Talk
// any number of them on a stream.
type Methods struct{ Unary, Talk Method }

// MethodsOf returns the methods of exchange.proto for a trial's content. For a
// message of the user's own both are Own, whose kind its server decides.
func MethodsOf(x contract.Exchange) Methods {
	switch {
	case x.Message == nil:
		return Methods{Method{Service, "Unary"}, Method{Service, "Talk"}}
	case x.Message.Name == "simple":
		return Methods{Method{Service, "Simple"}, Method{Service, "TalkSimple"}}
	case x.Message.Name == "complex":
		return Methods{Method{Service, "Complex"}, Method{Service, "TalkComplex"}}
	}
	return Methods{Own, Own}
}

// The methods whose content travels in chunks: up, down, or both ways.
var (
	Up   = Method{Service, "Up"}
	Down = Method{Service, "Down"}
	Both = Method{Service, "Both"}
)

// Chunked returns the method for content in chunks; the zero Method for a trial
// without a stream.
func Chunked(s contract.Stream) Method {
	return map[contract.Stream]Method{contract.StreamUp: Up, contract.StreamDown: Down, contract.StreamBoth: Both}[s]
}

// MethodOption declares option method, with a text that says what it is for.
func MethodOption(doc string) contract.Option {
	return contract.Option{Name: "method", Type: contract.TypeText, Default: Own.String(), Doc: doc}
}

// Given returns the method that option method names. given is false for its
// default. The error is of kind setup.
func Given(o load.Options) (m Method, given bool, err error) {
	if m, err = Parse(o.Text("method")); err != nil {
		return Method{}, false, load.Failure(contract.SetupFailed, fmt.Errorf("option method %w", err))
	}
	return m, m != Own, nil
}

// Parse reads a method's full name.
func Parse(text string) (Method, error) {
	rest, slashed := strings.CutPrefix(text, "/")
	service, name, found := strings.Cut(rest, "/")
	if !slashed || !found || service == "" || name == "" || strings.ContainsAny(rest, " {}?#") || strings.Contains(name, "/") {
		return Method{}, fmt.Errorf("is %q, expected /package.Service/Method such as %s", text, Own)
	}
	return Method{service, name}, nil
}
