package gogrpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// mostBody bounds a user's message, in base64, in bytes.
const mostBody = 64 << 20

// askOptions declares how a user's options change the calls of a client.
func askOptions() []contract.Option {
	return append([]contract.Option{
		{Name: "headers", Type: contract.TypeText, Default: "", FileMax: head.MostBytes, Roles: onlyClient, Doc: `metadata of the calls, "Name: value", one a line; the value of a name that ends in -bin is base64, padded or not`},
		{Name: "deadline", Type: contract.TypeDuration, Unit: "ns", Default: int64(0), Min: &none, Roles: onlyClient, Doc: "of each call by mode=unary, which the server is told (grpc-timeout); 0 for none"},
		{Name: "host", Type: contract.TypeText, Default: "", Roles: onlyClient, Doc: ":authority of the calls; the server's address unless given"},
		{Name: "body", Type: contract.TypeText, Default: "", FileMax: mostBody, Roles: onlyClient, Doc: "with codec=raw: the request message, serialized and in base64, in place of random content; as long as the factor request says. With method_streams=up or both a message a line, as long together"},
		{Name: "packed_replies", Type: contract.TypeBool, Default: false, Roles: onlyClient, Doc: "the server packs its replies by gzip, asked or not: they are unpacked and counted so, and fewer bytes than that cross the wire"},
		wire.BodiesOption(),
	}, slices.Concat(wire.VerifyOptions(), tlswire.TrustOptions(), followOptions())...)
}

// ask is how a user's options change the calls of a client.
type ask struct {
	headers metadata.MD
	body    []content        // the request, or those of a stream; nil for the trial's own content
	expect  wire.Expectation // of the replies
	subtype string           // of raw messages: none for another's service, whose messages they are
}

// askOf reads the options. The error is of kind setup, or unsupported for options
// that contradict the exchange, and names the option.
func askOf(setup contract.Setup, o load.Options) (a ask, err error) {
	if a.expect, err = wire.ExpectationOf(o); err != nil {
		return ask{}, err
	}
	fail := func(format string, args ...any) (ask, error) {
		return ask{}, load.Failure(contract.SetupFailed, fmt.Errorf("option "+format, args...))
	}
	if host := o.Text("host"); host != "" && !httpguts.ValidHostHeader(host) {
		return fail("host is %q, expected a host such as example.org or example.org:50051", host)
	}
	text, err := o.Given("headers", head.MostBytes)
	if err == nil {
		a.headers, err = headersOf(text)
	}
	if err != nil {
		return fail("headers: %w", err)
	}
	if o.Int("deadline") > 0 && (o.Text("mode") != "unary" || setup.Exchange.Stream != "") {
		return ask{}, load.Failure(contract.Unsupported, errors.New("option deadline needs mode=unary and no exchange.stream: a stream outlives its exchanges"))
	}
	body, err := o.Given("body", mostBody)
	if err != nil {
		return fail("body: %w", err)
	}
	if (body != "" || a.expect.Any) && (o.Text("codec") != "raw" || setup.Exchange.Stream != "") {
		return ask{}, load.Failure(contract.Unsupported, errors.New("options body, and verify for replies of any length, need codec=raw and no exchange.stream: they are for whole messages as they are"))
	}
	if body == "" {
		return a, nil
	}
	if len(setup.Exchange.UpSizes) > 0 {
		return fail("body: it is one message, and the factor request says that sizes vary")
	}
	if a.body, err = messagesOf(body, setup, o); err != nil {
		return fail("%w", err)
	}
	return a, nil
}

// headersOf reads metadata, one a line; nil for none.
func headersOf(text string) (metadata.MD, error) {
	fields, err := head.Parse(text)
	if err != nil {
		return nil, err
	}
	var md metadata.MD
	for _, f := range fields {
		name, value := strings.ToLower(f.Name), f.Value
		if strings.HasSuffix(name, "-bin") {
			decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
			if err != nil {
				return nil, fmt.Errorf("%s: %w; a name that ends in -bin has a value in base64", name, err)
			}
			value = string(decoded)
		}
		if md == nil {
			md = metadata.MD{}
		}
		md.Append(name, value)
	}
	return md, nil
}

// security returns what dials a server as the user's options trust and name it.
func security(setup contract.Setup, o load.Options) (out []grpc.DialOption, secure credentials.TransportCredentials, err error) {
	config, err := tlswire.TrustingConfig(setup)
	if err != nil {
		return nil, nil, err
	}
	secure = insecure.NewCredentials()
	if config != nil {
		name := config.ServerName
		config.ServerName = "" // or it would have to be :authority
		secure = named{credentials.NewTLS(config), name}
	}
	if host := o.Text("host"); host != "" {
		out = append(out, grpc.WithAuthority(host))
	}
	return out, secure, nil
}

// named checks the server's certificate for a name of its own, where the library
// takes :authority. Empty is the server's address.
type named struct {
	credentials.TransportCredentials
	name string
}

// ClientHandshake implements credentials.TransportCredentials.
func (n named) ClientHandshake(ctx context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	name := n.name
	if name == "" {
		name = conn.RemoteAddr().String()
	}
	return n.TransportCredentials.ClientHandshake(ctx, name, conn)
}

// Clone implements credentials.TransportCredentials.
func (n named) Clone() credentials.TransportCredentials {
	return named{n.TransportCredentials.Clone(), n.name}
}
