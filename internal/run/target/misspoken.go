package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/run/spoken"
)

// wrongWire are the statuses by which a server of something else answers HTTP: TLS a
// request without, gRPC a request that is no call.
var wrongWire = []string{"400", "405", "415", "426", "505"}

// otherVersion are the statuses of them by which an HTTP/1.1 answer asks for HTTP/2.
var otherVersion = []string{"426", "505"}

// misspoken says what a server speaks that does not answer HTTP as it was asked, and what
// to give; explainHTTP has the words for all others.
func (t Target) misspoken(ctx context.Context, u *url.URL, err error) error {
	said := explainHTTP(u, err)
	var answered failed
	var dialled *net.OpError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	status := errors.As(err, &answered)
	code := answered.status[:min(3, len(answered.status))]
	switch {
	case status && !slices.Contains(wrongWire, code):
		return said
	case errors.As(err, new(redirected)), errors.As(err, &verify), errors.As(err, &authority), ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return said
	case errors.As(err, &dialled) && dialled.Op == "dial":
		return said
	}
	if t.Proxy != nil { // what it speaks is not what the server does
		return explainHTTP(u, err)
	}
	found := spoken.At(ctx, t.address(u))
	give := t.instead(u, found)
	switch {
	case give == "", status && found == (spoken.Wire{Name: spoken.HTTP2}) && !slices.Contains(otherVersion, code):
		return said // or the server speaks HTTP/1.1 too, and refused what it understood
	case status:
		answered.code = 0 // the reply is to another wire
		return fmt.Errorf("%w; %s", answered.explain(u.String()), give)
	}
	return fmt.Errorf("%s %s", t.address(u), strings.TrimPrefix(give, "the server "))
}

// instead is what to type for a server of the given wire; "" for a server that speaks
// what was asked for, or no wire that is known here.
func (t Target) instead(u *url.URL, found spoken.Wire) string {
	encrypted, rest := u.Scheme == "https", u.Host+u.RequestURI()
	type question struct {
		name       string
		found, own bool // by TLS
	}
	give := ""
	switch (question{found.Name, found.TLS, encrypted}) {
	case question{spoken.GRPC, true, true}, question{spoken.GRPC, true, false}:
		give = "measure grpcs://" + u.Host + "/pkg.Service/Method"
	case question{spoken.GRPC, false, true}, question{spoken.GRPC, false, false}:
		give = "measure grpc://" + u.Host + "/pkg.Service/Method"
	case question{spoken.HTTP1, true, false}, question{spoken.HTTP2, true, false}, question{"", true, false}:
		give = "measure https://" + rest
	case question{spoken.HTTP1, false, true}:
		return "the server speaks no TLS; measure http://" + rest
	case question{spoken.HTTP2, false, true}:
		give = "measure http://" + rest + " with --http2"
	case question{spoken.HTTP2, false, false}:
		if !t.HTTP2 {
			give = "add --http2"
		}
	case question{spoken.HTTP1, false, false}, question{spoken.HTTP1, true, true}:
		if t.HTTP2 {
			give = "leave out --http2"
		}
	case question{spoken.Echo, false, false}, question{spoken.Echo, false, true}:
		give = "measure tcp://" + address(u)
	}
	if give == "" {
		return ""
	}
	return fmt.Sprintf("the server speaks %s: %s", found, give)
}
