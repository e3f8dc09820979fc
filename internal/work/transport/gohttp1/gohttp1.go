// Package gohttp1 is transport go-http1: HTTP/1.1 by Go's net/http, server and
// client. Wire http/1.1.
package gohttp1

import (
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/nethttp"
)

// Transport is go-http1, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return contract.Transport{
		Name:     "go-http1",
		Doc:      "HTTP/1.1 by Go's net/http",
		Wire:     wire.HTTP1,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(t.Codecs),
		Features: wire.HTTPFeatures,
		Options:  options(),
	}
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	return nethttp.NewServer(setup, t.Codecs, &http.Server{Protocols: protocols()}, nil)
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	o := clientOptionsOf(setup)
	return nethttp.NewClient(setup, nethttp.Plan{
		Codecs: t.Codecs, OneAtATime: true, Pool: o.pool, Options: o.effective(),
		Transport: func() *http.Transport {
			return &http.Transport{Protocols: protocols(), ReadBufferSize: o.readBuffer, WriteBufferSize: o.writeBuffer}
		},
	})
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}
