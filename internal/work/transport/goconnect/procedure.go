package goconnect

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// The procedures of exchange.proto.
const (
	service     = "/netdyno.v1.Exchange/"
	unary       = service + "Unary"
	up          = service + "Up"
	down        = service + "Down"
	both        = service + "Both"
	talk        = service + "Talk"
	simple      = service + "Simple"
	talkSimple  = service + "TalkSimple"
	complicated = service + "Complex"
	talkComplex = service + "TalkComplex"
	own         = service + "Own" // of a user's own message, unless option method says otherwise
)

// procedures carry the whole messages of one trial: a call for each exchange,
// and a stream of them, empty for a user's own message.
type procedures struct{ unary, talk string }

// proceduresOf returns those of a trial. The error is of kind setup.
func proceduresOf(setup contract.Setup) (procedures, error) {
	message := setup.Exchange.Message
	switch {
	case message == nil:
		return procedures{unary, talk}, nil
	case message.Name == "simple":
		return procedures{simple, talkSimple}, nil
	case message.Name == "complex":
		return procedures{complicated, talkComplex}, nil
	}
	path := load.Options(setup.Options).Text("method")
	name, rooted := strings.CutPrefix(path, "/")
	of, method, found := strings.Cut(name, "/")
	if !rooted || !found || of == "" || method == "" || strings.ContainsAny(name, " {}?#") || strings.Contains(method, "/") {
		return procedures{}, load.Failure(contract.SetupFailed, fmt.Errorf("option method is %q, expected /package.Service/Method such as %s", path, own))
	}
	return procedures{unary: path}, nil
}
