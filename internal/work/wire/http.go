package wire

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// The wires of HTTP (docs/wires.md, section HTTP).
const (
	HTTP1 = "http/1.1"
	H2C   = "h2c" // HTTP/2 with prior knowledge; over TLS by ALPN
)

// What a client checks before it is ready, option verify.
const (
	VerifyContent = "content" // the reply is what our servers send
	VerifyLength  = "length"  // it has the right size: for servers that are not ours
)

// HTTPFeatures are what the transports of both wires can do.
var HTTPFeatures = []contract.Feature{contract.FeatureTLS, contract.FeatureFresh}

// HTTPOptions declares the options of every HTTP client: path and verify.
func HTTPOptions() []contract.Option {
	return []contract.Option{
		{
			Name: "path", Type: contract.TypeText, Default: "/exchange", Roles: []contract.Role{contract.Client},
			Doc: "what the client asks for; our servers answer any path, another's may not",
		}, VerifyOption(),
	}
}

// VerifyOption declares what a client checks before it is ready.
func VerifyOption() contract.Option {
	return contract.Option{
		Name: "verify", Type: contract.TypeChoice, Default: VerifyContent, Choices: []string{VerifyContent, VerifyLength}, Roles: []contract.Role{contract.Client},
		Doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours; a message only has to decode then",
	}
}

// HTTPTarget returns the URL that the client asks peer for. The error is of
// kind setup.
func HTTPTarget(setup contract.Setup, peer string) (string, error) {
	path := load.Options(setup.Options).Text("path")
	target, err := url.Parse(path)
	if err == nil && (!strings.HasPrefix(path, "/") || target.Host != "") {
		err = errors.New("expected a path that begins with one slash")
	}
	if err != nil {
		return "", load.Failure(contract.SetupFailed, fmt.Errorf("option path is %q: %w", path, err))
	}
	scheme := "http://"
	if setup.TLS != nil {
		scheme = "https://"
	}
	return scheme + peer + path, nil
}

// HTTPClientWork refuses what no client of a wire of HTTP can do; oneAtATime
// says that its connections carry one exchange at a time.
func HTTPClientWork(setup contract.Setup, oneAtATime bool) error {
	if oneAtATime && setup.Load.InFlight > 1 {
		return load.Failure(contract.Unsupported, fmt.Errorf(
			"load.in_flight is %d: HTTP/1.1 carries one exchange at a time on a connection; use more connections", setup.Load.InFlight))
	}
	return nil
}

// ExplainVerify adds to a failed verification what to do about a server that is
// not ours; nil stays nil.
func ExplainVerify(err error) error {
	if err == nil {
		return nil
	}
	return load.Failure(load.KindOf(err), fmt.Errorf(
		"%s (a server that is not netdyno's sends other content: drive it with opt.verify=%s)", load.TextOf(err), VerifyLength))
}

// HTTPConnectFailure explains why connection i of so many could not be made or
// verified: the dialling's own words, a mismatch of TLS, what was wrong with the
// reply, or how the library put it.
func HTTPConnectFailure(setup contract.Setup, d *Dialer, i int, err error) error {
	var known *contract.Error
	judged := errors.As(err, &known)
	if judged && known.Kind != contract.Invalid {
		return known
	}
	route, of := d.Routes()[i], len(d.Routes())
	if mismatch := TLSMismatch(setup, route); mismatch != nil {
		return ConnectFailure(i, of, route, mismatch)
	}
	if judged {
		return load.Failure(known.Kind, fmt.Errorf("verify connection %d of %d to %s: %s", i+1, of, route.Peer, known.Text))
	}
	return ConnectFailure(i, of, route, err)
}

// HTTPReason returns the first line of a body that explains a status, in
// brackets; nothing for an empty one.
func HTTPReason(body []byte) string {
	const most = 200
	line, _, _ := bytes.Cut(bytes.TrimSpace(body[:min(most, len(body))]), []byte("\n"))
	if len(line) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", line)
}
