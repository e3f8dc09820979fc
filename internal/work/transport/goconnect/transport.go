// Package goconnect holds the transports of connect-go (connectrpc.com/connect):
// go-connect, its own protocol over HTTP/1.1, and go-connect-grpc, its
// implementation of the gRPC protocol over HTTP/2. Both carry service
// netdyno.v1.Exchange of internal/work/netdynov1/exchange.proto, with handlers
// and clients made by hand in the shape that connect's generator gives them.
//
// Messages of codec json are encoded by encoding/json over Go structs, as with
// every other transport. connect itself would use protojson for generated messages.
package goconnect

import (
	"fmt"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
)

// Wires of the two transports. Over WireGRPC both ends can be paired with
// those of any gRPC library.
const (
	WireConnect = "connect:netdyno.v1"
	WireGRPC    = "grpc:netdyno.v1"
)

// Transport is go-connect, or with GRPC go-connect-grpc.
type Transport struct {
	GRPC   bool          // the gRPC protocol over HTTP/2 instead of connect's over HTTP/1.1
	Codecs []codec.Codec // besides bytes
}

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	d := contract.Transport{
		Name:     "go-connect",
		Doc:      "connect-go, its own protocol over HTTP/1.1; json is encoding/json over structs, not protojson",
		Wire:     WireConnect,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(t.Codecs),
		Features: []contract.Feature{contract.FeatureTLS, contract.FeatureFresh},
		Options:  options(t.GRPC),
	}
	if t.GRPC {
		d.Name = "go-connect-grpc"
		d.Doc = "connect-go's gRPC protocol over HTTP/2 of net/http; json is encoding/json over structs, not protojson"
		d.Wire = WireGRPC
		d.Features = append(d.Features, contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth)
	}
	return d
}

// admit refuses what the transport cannot carry, as unsupported.
func (t Transport) admit(setup contract.Setup) error {
	if n := setup.Load.InFlight; n > 1 && !t.GRPC {
		return load.Failure(contract.Unsupported, fmt.Errorf(
			"load.in_flight is %d: HTTP/1.1 carries one exchange at a time on a connection; transport go-connect-grpc multiplexes", n))
	}
	return nil
}

// protocols is the one version of HTTP that a transport speaks.
func (t Transport) protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(!t.GRPC)
	p.SetHTTP2(t.GRPC)
	p.SetUnencryptedHTTP2(t.GRPC)
	return p
}
