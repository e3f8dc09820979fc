// Package gohttp1 is transport go-http1: HTTP/1.1 by Go's net/http, server and
// client. Wire http/1.1.
package gohttp1

import (
	"net/http"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
)

// Transport is go-http1, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return nethttp.Describe(httpwire.Describe("go-http1", "HTTP/1.1 by Go's net/http", httpwire.HTTP1, t.Codecs, options()))
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	return nethttp.NewServer(setup, t.Codecs, &http.Server{Protocols: protocols()}, nil)
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	buffers, effective := nethttp.BuffersOf(setup), map[string]any{}
	buffers.Effective(effective)
	return nethttp.NewClient(setup, nethttp.Plan{
		Codecs: t.Codecs, OneAtATime: true, Options: effective,
		Pool: nethttp.Pool(load.Options(setup.Options).Text("pool")),
		Transport: func() *http.Transport {
			transport := &http.Transport{Protocols: protocols()}
			buffers.Apply(transport)
			return transport
		},
	})
}

// options declares what a study may set; every one is the client's.
func options() []contract.Option {
	own := []contract.Option{nethttp.ReadOption(), {
		Name: "pool", Type: contract.TypeChoice, Default: string(nethttp.PoolOwn),
		Choices: []string{string(nethttp.PoolOwn), string(nethttp.PoolShared)}, Roles: []contract.Role{contract.Client},
		Doc: "own: an http.Transport for each connection; shared: one for all, as programs have it",
	}}
	return slices.Concat(own, nethttp.BufferOptions(), nethttp.ProxyOptions(), httpwire.Options())
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}
