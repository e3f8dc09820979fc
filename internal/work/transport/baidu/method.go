package baidu

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

const service = "netdyno.v1.Exchange"

// ownMethod carries messages of the user's own, and is the default of option
// method: left as it is, the built-in messages travel by exchange.proto.
const ownMethod = "/" + service + "/Own"

// name is a method as a meta says it.
type name struct{ service, method string }

func (n name) String() string { return "/" + n.service + "/" + n.method }

// builtIn returns the method of exchange.proto for a trial's content.
func builtIn(x contract.Exchange) name {
	switch {
	case x.Message == nil:
		return name{service, "Unary"}
	case x.Message.Name == "simple":
		return name{service, "Simple"}
	case x.Message.Name == "complex":
		return name{service, "Complex"}
	}
	return name{service, "Own"}
}

// called returns the method that a client calls. The error is of kind setup.
func called(setup contract.Setup, o load.Options) (name, error) {
	if given := o.Text("method"); given != ownMethod {
		return parseName(given)
	}
	return builtIn(setup.Exchange), nil
}

// served returns the methods that a server answers. The error is of kind setup.
func served(setup contract.Setup, o load.Options) ([]name, error) {
	out := []name{builtIn(setup.Exchange)}
	if given := o.Text("method"); given != ownMethod {
		more, err := parseName(given)
		if err != nil {
			return nil, err
		}
		out = append(out, more)
	}
	return out, nil
}

// parseName reads option method. A service of a Java program has no package.
func parseName(full string) (name, error) {
	rest, slashed := strings.CutPrefix(full, "/")
	service, method, both := strings.Cut(rest, "/")
	if !slashed || !both || service == "" || method == "" || strings.Contains(method, "/") {
		return name{}, load.Failure(contract.SetupFailed, fmt.Errorf("option method is %q, expected /package.Service/Method such as %s", full, ownMethod))
	}
	return name{service, method}, nil
}

// answersTo reports whether a request that asks for service means this one.
// Without a package it means the service of that last name, whatever its
// package: jprotobuf's clients send it so, and brpc's servers take it so.
func (n name) answersTo(service []byte) bool {
	if string(service) == n.service {
		return true
	}
	start := strings.LastIndexByte(n.service, '.') + 1
	return string(service) == n.service[start:]
}
