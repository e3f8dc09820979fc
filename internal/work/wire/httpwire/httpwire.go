// Package httpwire is what every transport of the wires of HTTP has in common,
// whichever library carries its requests: names, options, a client's exchanges,
// and what its errors say.
package httpwire

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/paths"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// The wires of HTTP (docs/wires.md, section HTTP).
const (
	HTTP1 = "http/1.1"
	H2C   = "h2c" // HTTP/2 with prior knowledge; over TLS by ALPN
	H3    = "h3"  // HTTP/3, which is always encrypted
)

// Features are what the transports of these wires can do.
var Features = []contract.Feature{
	contract.FeatureTLS, contract.FeatureFresh, contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureMixedTurns, contract.FeatureMix, contract.FeatureTrace, contract.FeatureThink, contract.FeatureTimes,
	contract.FeatureHeaders, contract.FeatureData, contract.FeatureWorkCPU, contract.FeatureWorkSleep,
}

// Describe describes a transport of a wire of HTTP that is a server and a client, and
// carries whole messages in the codecs that its program links.
func Describe(name, doc, wire string, codecs []codec.Codec, options []contract.Option) contract.Transport {
	return contract.Transport{
		Name: name, Doc: doc, Wire: wire, Roles: []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage, Codecs: codec.Names(codecs), Features: slices.Clone(Features), Options: options,
	}
}

// ProxiedOption is the option of clients that ask through an HTTP proxy.
const ProxiedOption = "proxied"

// defaultPath is what a client asks for unless it is told.
const defaultPath = "/exchange"

// Options declares the options of every HTTP client.
func Options() []contract.Option {
	return append([]contract.Option{
		{
			Name: "path", Type: contract.TypeText, Default: defaultPath, FileMax: paths.Longest, Roles: []contract.Role{contract.Client},
			Doc: "what the client asks for; our servers answer any path, another's may not",
		}, {
			Name: "paths", Type: contract.TypeText, Default: "", FileMax: paths.MostBytes, Roles: []contract.Role{contract.Client},
			Doc: "file of paths, one a line, that the client asks for in turn in place of path; with verify=status, when any status 2xx will do",
		},
	}, append(askOptions(), tlswire.TrustOptions()...)...)
}

// ofRequests are the options that are of requests of HTTP alone.
var ofRequests = []string{"paths", "method", "status", "bodies", "class_paths"}

// HandshakeOptions are those of Options for clients of a protocol whose connections begin as
// HTTP/1.1: how the handshake is made, what goes up, and what must come back.
func HandshakeOptions() []contract.Option {
	return slices.DeleteFunc(Options(), func(o contract.Option) bool { return slices.Contains(ofRequests, o.Name) })
}

// NewHandshakeClient is NewClient for HandshakeOptions.
func NewHandshakeClient(setup contract.Setup, codecs []codec.Codec) (*Client, error) {
	whole := setup
	whole.Options = maps.Clone(setup.Options)
	for _, o := range Options() {
		if slices.Contains(ofRequests, o.Name) {
			whole.Options[o.Name] = o.Default
		}
	}
	c, err := NewClient(whole, codecs, true)
	if err != nil {
		return nil, err
	}
	c.Setup = setup
	return c, nil
}

// pathOf returns what the client asks for. The error is of kind setup.
func pathOf(setup contract.Setup) (string, error) {
	path, err := load.Options(setup.Options).Given("path", paths.Longest)
	if err != nil {
		return "", load.Failure(contract.SetupFailed, fmt.Errorf("option path: %w", err))
	}
	if _, err = url.ParseRequestURI(path); err == nil && !strings.HasPrefix(path, "/") {
		err = errors.New("expected a path that begins with a slash")
	}
	if err != nil {
		return "", load.Failure(contract.SetupFailed, fmt.Errorf("option path is %q: %w", path, err))
	}
	return path, nil
}

// target returns the URL that the client asks peer for. The error is of kind setup.
func target(setup contract.Setup, peer string) (string, error) {
	path, err := pathOf(setup)
	return scheme(setup) + peer + path, err
}

func scheme(setup contract.Setup) string {
	if setup.TLS != nil {
		return "https://"
	}
	return "http://"
}

// explainVerify adds to a failed verification what to do about a server that is
// not ours; nil stays nil.
func explainVerify(err error) error {
	if err == nil {
		return nil
	}
	return load.Failure(load.KindOf(err), fmt.Errorf(
		"%s (a server that is not netdyno's sends other content: drive it with opt.verify=%s)", load.TextOf(err), wire.VerifyLength))
}

// WrongStatus returns err as an error of kind invalid, whose reason is a reply's status
// alone.
func WrongStatus(status int, err error) error {
	if load.KindOf(err) != contract.Invalid {
		err = load.Failure(contract.Invalid, err)
	}
	return &load.ReasonError{Err: err, Text: statusText(status)}
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// tooBusy tells whether a reply had a status that asks to come again later.
func tooBusy(err error) bool {
	reason := load.ReasonOf(err)
	return reason == statusText(http.StatusTooManyRequests) || reason == statusText(http.StatusServiceUnavailable)
}

// Reason returns the first line of a body that explains a status, in
// brackets; nothing for an empty one.
func Reason(body []byte) string {
	const most = 200
	line, _, _ := bytes.Cut(bytes.TrimSpace(body[:min(most, len(body))]), []byte("\n"))
	if len(line) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", line)
}
