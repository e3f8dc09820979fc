package gogrpc

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

// The methods that carry chunks, by the directions that are streams.
var chunkMethods = map[contract.Stream]string{
	contract.StreamUp: "Up", contract.StreamDown: "Down", contract.StreamBoth: "Both",
}

// methods names what carries a trial's whole messages: an RPC for each exchange
// and a stream of them.
type methods struct{ unary, talk string }

// methodsOf returns the methods of exchange.proto for a trial's content. A
// message of the user's own has the same name for both, since its server knows
// one kind only.
func methodsOf(x contract.Exchange) methods {
	switch {
	case x.Message == nil:
		return methods{"Unary", "Talk"}
	case x.Message.Name == "simple":
		return methods{"Simple", "TalkSimple"}
	case x.Message.Name == "complex":
		return methods{"Complex", "TalkComplex"}
	}
	return methods{"Own", "Own"}
}

// called returns the full name of the method that a client's options choose.
func called(setup contract.Setup, o load.Options) string {
	if given := o.Text("method"); given != ownMethod {
		return given
	}
	name := methodsOf(setup.Exchange)
	switch {
	case setup.Exchange.Stream != "":
		return fullName(chunkMethods[setup.Exchange.Stream])
	case o.Text("mode") == "stream":
		return fullName(name.talk)
	}
	return fullName(name.unary)
}

func fullName(method string) string { return "/" + service + "/" + method }

// splitMethod checks option method. The error is of kind setup.
func splitMethod(full string) (service, method string, err error) {
	name, slashed := strings.CutPrefix(full, "/")
	service, method, both := strings.Cut(name, "/")
	switch {
	case !slashed || !both || service == "" || method == "" || strings.Contains(method, "/"):
		err = fmt.Errorf("option method is %q, expected /package.Service/Method such as %s", full, ownMethod)
	case strings.HasPrefix(service, "grpc.reflection."):
		err = fmt.Errorf("option method is %q: the server's reflection has that service", full)
	default:
		return service, method, nil
	}
	return "", "", load.Failure(contract.SetupFailed, err)
}
