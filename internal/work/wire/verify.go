package wire

import (
	"fmt"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/expect"
	"netdyno/internal/work/load"
)

// What a client checks before it is ready, option verify; of every reply, too, where
// it is one of expect.Kinds, which take what status does.
const (
	VerifyContent = "content" // the reply is what our servers send
	VerifyLength  = "length"  // it has the right size: for servers that are not ours
	VerifyStatus  = "status"  // it may have any length, and what came is counted
)

// VerifyOption declares what a client checks before it is ready.
func VerifyOption() contract.Option {
	return contract.Option{
		Name: "verify", Type: contract.TypeChoice, Default: VerifyContent, Choices: []string{VerifyContent, VerifyLength}, Roles: []contract.Role{contract.Client},
		Doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours; a message only has to decode then",
	}
}

// VerifyOptions are VerifyOption for a client that takes replies of any length, and what
// it expects of their bodies.
func VerifyOptions() []contract.Option {
	o := VerifyOption()
	o.Choices = append(o.Choices, VerifyStatus)
	for _, kind := range expect.Kinds {
		o.Choices = append(o.Choices, string(kind))
	}
	o.Doc += "; status: replies may have any length, and what came is counted; the others: as status, and every body is the same, has a match of the pattern, or none, or fulfils a condition on its JSON"
	return []contract.Option{o, {
		Name: "expected", Type: contract.TypeText, Default: "", FileMax: expect.MostPattern, Roles: []contract.Role{contract.Client},
		Doc: "with verify=body the body's SHA-256, that of the first reply unless given; with verify=regexp and not-regexp the pattern, in RE2's syntax, for the first MiB of a body; with verify=json the condition, such as $.errors == null",
	}}
}

// AnyLength tells whether a level of option verify takes replies of any length.
func AnyLength(verify string) bool { return verify != VerifyContent && verify != VerifyLength }

// Expectation is what options verify and expected demand of the bodies of replies. Any
// goroutine may use it.
type Expectation struct {
	Any    bool // a reply may have any length
	bodies *expect.Bodies
}

// ExpectationOf reads the options. The error is of kind setup and names the option.
func ExpectationOf(o load.Options) (Expectation, error) {
	verify := o.Text("verify")
	e := Expectation{Any: AnyLength(verify)}
	text, err := o.Given("expected", expect.MostPattern)
	switch {
	case err != nil:
	case slices.Contains(expect.Kinds, expect.Kind(verify)):
		e.bodies, err = expect.Of(expect.Kind(verify), text)
	case text != "":
		err = fmt.Errorf("verify=%s has nothing to be expected; expected one of %v beside it", verify, expect.Kinds)
	}
	if err != nil {
		return e, load.Failure(contract.SetupFailed, fmt.Errorf("option expected: %w", err))
	}
	return e, nil
}

// ChecksBodies tells whether Check needs bodies whole.
func (e Expectation) ChecksBodies() bool { return e.bodies != nil }

// ChecksWhole tells whether Check needs all of a reply, where that is several messages.
func (e Expectation) ChecksWhole() bool { return e.bodies != nil && !e.bodies.Matches() }

// Check checks the body of a reply. The error is of kind invalid.
func (e Expectation) Check(body []byte) error {
	if e.bodies == nil {
		return nil
	}
	err := e.bodies.Check(body)
	if err == nil {
		return nil
	}
	return &load.ReasonError{Err: load.Failure(contract.Invalid, err), Text: e.bodies.Reason()}
}

// Sizes of the chunks of a stream, in bytes.
const (
	DefaultChunk = 64 << 10
	MaxChunk     = 64 << 20
)

// SilenceFailure returns an error of kind timeout for a server that has accepted a
// connection and then sent only the first came of want bytes of its first reply. A
// want of 0 says that the caller does not know the reply's size.
func SilenceFailure(connection int, routes []Route, came, want int64, waited time.Duration) error {
	begin := fmt.Sprintf("verify connection %d of %d: the server at %s", connection+1, len(routes), routes[connection].Peer)
	var err error
	switch {
	case want == 0:
		err = fmt.Errorf("%s accepted the connection, sent no whole reply and said nothing more for %v", begin, waited)
	case came == 0:
		err = fmt.Errorf("%s accepted the connection and said nothing for %v", begin, waited)
	default:
		err = fmt.Errorf("%s sent %d of %d bytes and said nothing more for %v", begin, came, want, waited)
	}
	return load.Failure(contract.Timeout, err)
}
