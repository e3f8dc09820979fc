package target

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/quantity"
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
	said := t.explainHTTP(u, err)
	if t.HTTP3 {
		return cmp.Or(t.explainQUIC(u, err), said)
	}
	var answered failed
	var went astray
	var dialled *net.OpError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	status := errors.As(err, &answered)
	code := answered.status[:min(3, len(answered.status))]
	switch {
	case status && !slices.Contains(wrongWire, code):
		return said
	case errors.As(err, new(redirected)), errors.As(err, new(tunnelError)), errors.As(err, &verify), errors.As(err, &authority), ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return said
	case errors.As(err, &dialled) && dialled.Op == "dial":
		return said
	case errors.As(err, &went) && went.answered(): // as it was asked
		return said
	}
	if t.Proxy != nil { // what it speaks is not what the server does
		return said
	}
	found := spoken.At(ctx, t.address(u))
	give := t.instead(u, found)
	switch {
	case give == "", status && found == (spoken.Wire{Name: spoken.HTTP2}) && !slices.Contains(otherVersion, code):
		return said // or the server speaks HTTP/1.1 too, and refused what it understood
	case status:
		return fmt.Errorf("%s answers %s: %q; %s", u, answered.status, answered.says, give) // the reply is to another wire
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

// explainHTTP says what an error of a request means, and what to do.
func (t Target) explainHTTP(u *url.URL, err error) error {
	peer := address(u)
	if t.Proxy != nil {
		peer = "the proxy " + t.Proxy.Host
	}
	var to redirected
	var tunnel tunnelError
	var answered failed
	var header tls.RecordHeaderError
	var went astray
	var share sometimes
	where, so := Shown(u), ""
	if errors.As(err, &went) {
		if so = went.soFar(true); so != "" {
			so = " (" + so + ")"
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), went.course != nil && went.ended():
		return err // Ask says what is true of it
	case errors.As(err, &tunnel):
		return fmt.Errorf("%s answers %s when it is asked for %s; %s", peer, tunnel.status, address(u), cmp.Or(likely[tunnel.code], "it may not let you there: try without -x"))
	case errors.As(err, &share):
		share.error = t.explainHTTP(u, share.error)
		return share
	case errors.As(err, &to):
		return fmt.Errorf("%s redirects to %s: measure that URL, or add -L", where, quantity.Clip(to.to, 200))
	case errors.As(err, &answered):
		return answered.explain(where)
	case errors.As(err, &header), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("%s speaks no TLS; measure http://%s", where, u.Host+u.RequestURI())
	}
	if said := untrusted(where, err); said != nil {
		return said
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "remote error: tls: "):
		_, alert, _ := strings.Cut(text, "remote error: tls: ")
		return fmt.Errorf("%s ends the connection by TLS%s: %s; %s", peer, so, quantity.Clip(alert, 80), alerts(alert))
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s takes connections and resets them%s: it speaks no HTTP, or refuses this host, the name that it is asked for, or so large a request; a firewall or a proxy before it may too", peer, so)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if went.course != nil && went.answered() {
			return fmt.Errorf("%s answers %s and ends the connection within the reply: %s came%s", where, went.status, quantity.FormatBytes(float64(went.bytes)), so)
		}
		return fmt.Errorf("%s ended the connection without an answer%s; does it speak HTTP?", peer, so)
	}
	if netError := (*net.OpError)(nil); !errors.As(err, &netError) && strings.Contains(text, "malformed HTTP") {
		return fmt.Errorf("%s speaks no HTTP: %w", address(u), err)
	}
	return err
}

// alerts says what an alert of TLS is likely to want.
func alerts(alert string) string {
	switch {
	case strings.Contains(alert, "certificate required"), strings.Contains(alert, "bad certificate"), strings.Contains(alert, "unknown certificate"):
		return "it wants a client's certificate that it knows: --cert FILE --key FILE"
	case strings.Contains(alert, "unrecognized name"):
		return "it has no certificate for that name: --sni NAME"
	case strings.Contains(alert, "protocol version"):
		return "it speaks TLS older than 1.2"
	}
	return "it may want another name (--sni), or a client's certificate (--cert FILE --key FILE)"
}

// untrusted says what is wrong with a server's certificate, and what to type; nil of
// another error.
func untrusted(where string, err error) error {
	var unverified *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	const accept = "or accept any with -k"
	switch {
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of %s is for another name: %w; name it with --sni, %s", where, name, accept)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		begins, ends := invalid.Cert.NotBefore, invalid.Cert.NotAfter
		if time.Now().Before(begins) {
			return fmt.Errorf("the certificate of %s is valid only from %s on; set this host's clock, %s", where, begins.Format(time.DateTime), accept)
		}
		return fmt.Errorf("the certificate of %s expired on %s; renew it, %s", where, ends.Format(time.DateTime), accept)
	case errors.As(err, &invalid):
		return fmt.Errorf("the certificate of %s is not valid: %w; %s", where, invalid, accept)
	case errors.As(err, &unknown):
		who := "of an unknown authority"
		if errors.As(err, &unverified) && len(unverified.UnverifiedCertificates) > 0 {
			switch c := unverified.UnverifiedCertificates[0]; {
			case bytes.Equal(c.RawIssuer, c.RawSubject):
				who = "signed by itself, not by a known authority"
			case c.Issuer.String() != "":
				who += " (" + quantity.Clip(c.Issuer.String(), 80) + ")"
			}
		}
		return fmt.Errorf("%s has a certificate %s; name that with --ca FILE, %s", where, who, accept)
	}
	return nil
}
