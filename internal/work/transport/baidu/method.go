package baidu

import (
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/rpc"
)

// called returns the method that a client calls. The error is of kind setup.
func called(setup contract.Setup, o load.Options) (rpc.Method, error) {
	m, given, err := rpc.Given(o)
	if err != nil || given {
		return m, err
	}
	return rpc.MethodsOf(setup.Exchange).Unary, nil
}

// served returns the methods that a server answers. The error is of kind setup.
func served(setup contract.Setup, o load.Options) ([]rpc.Method, error) {
	out := []rpc.Method{rpc.MethodsOf(setup.Exchange).Unary}
	m, given, err := rpc.Given(o)
	if given {
		out = append(out, m)
	}
	return out, err
}

// means reports whether a request that asks for service means that of m. Without
// a package it means the service of that last name, whatever its package:
// jprotobuf's clients send it so, and brpc's servers take it so. A service of a
// Java program has no package either.
func means(service []byte, m rpc.Method) bool {
	if string(service) == m.Service {
		return true
	}
	start := strings.LastIndexByte(m.Service, '.') + 1
	return string(service) == m.Service[start:]
}
