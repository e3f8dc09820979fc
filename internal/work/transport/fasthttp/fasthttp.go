// Package gofasthttp is transport fasthttp: HTTP/1.1 by
// github.com/valyala/fasthttp, server and client. Wire http/1.1.
package gofasthttp

import (
	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire/httpwire"
)

// Transport is fasthttp, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return contract.Transport{
		Name:     "fasthttp",
		Doc:      "HTTP/1.1 by valyala/fasthttp, which reuses what net/http allocates",
		Wire:     httpwire.HTTP1,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(t.Codecs),
		Features: httpwire.Features,
		Options:  options(),
	}
}
