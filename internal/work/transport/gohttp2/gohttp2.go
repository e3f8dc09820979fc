// Package gohttp2 is transport go-http2: HTTP/2 by Go's net/http, server and
// client, with prior knowledge or, encrypted, by ALPN. Wire h2c.
package gohttp2

import (
	"net/http"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
)

// Transport is go-http2, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return nethttp.Describe(httpwire.Describe("go-http2", "HTTP/2 by Go's net/http: exchanges in flight are streams of one connection", httpwire.H2C, t.Codecs, options()))
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	effective := map[string]any{}
	config, err := nethttp.NewHTTP2(setup, effective)
	if err != nil {
		return nil, err
	}
	return nethttp.NewServer(setup, t.Codecs, &http.Server{Protocols: protocols(setup), HTTP2: config}, effective)
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	effective := map[string]any{}
	config, err := nethttp.NewHTTP2(setup, effective)
	if err != nil {
		return nil, err
	}
	return nethttp.NewClient(setup, nethttp.Plan{
		Codecs: t.Codecs, Options: effective, Pool: nethttp.Pool(load.Options(setup.Options).Text("pool")),
		Transport: func() *http.Transport { return &http.Transport{Protocols: protocols(setup), HTTP2: config} },
	})
}

// options declares what a study may set.
func options() []contract.Option {
	own := []contract.Option{{
		Name: "pool", Type: contract.TypeChoice, Default: string(nethttp.PoolOwn),
		Choices: []string{string(nethttp.PoolOwn), string(nethttp.PoolNone)}, Roles: []contract.Role{contract.Client},
		Doc: "own: an http.Transport for each connection, as programs have it; none: an http.ClientConn, on which exchanges wait for a free stream",
	}, nethttp.ReadOption()}
	return slices.Concat(nethttp.HTTP2Options(), own, nethttp.ProxyOptions(), httpwire.Options())
}

// protocols leaves HTTP/1.1 out: a peer that speaks nothing else is told so.
func protocols(setup contract.Setup) *http.Protocols {
	p := new(http.Protocols)
	if setup.TLS != nil {
		p.SetHTTP2(true)
	} else {
		p.SetUnencryptedHTTP2(true)
	}
	return p
}
