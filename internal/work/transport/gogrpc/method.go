package gogrpc

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/rpc"
)

// called returns the method that a client's options choose. The error is of kind
// setup.
func called(setup contract.Setup, o load.Options) (rpc.Method, error) {
	m, isGiven, err := given(o)
	if err != nil || isGiven {
		return m, err
	}
	whole := rpc.MethodsOf(setup.Exchange)
	switch {
	case setup.Exchange.Stream != "":
		return rpc.Chunked(setup.Exchange.Stream), nil
	case o.Text("mode") == "stream":
		return whole.Talk, nil
	}
	return whole.Unary, nil
}

// given returns the method of option method, as rpc.Given does. It refuses the
// services of the server's reflection.
func given(o load.Options) (m rpc.Method, isGiven bool, err error) {
	m, isGiven, err = rpc.Given(o)
	if err == nil && strings.HasPrefix(m.Service, "grpc.reflection.") {
		err = load.Failure(contract.SetupFailed, fmt.Errorf("option method is %q: the server's reflection has that service", m))
	}
	return m, isGiven, err
}
