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
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/rpc"
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
		Features: []contract.Feature{
			contract.FeatureTLS, contract.FeatureFresh, contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureMixedTurns, contract.FeatureMix, contract.FeatureTrace, contract.FeatureThink, contract.FeatureTimes,
			contract.FeatureWorkCPU, contract.FeatureWorkSleep,
		},
		Options: options(t.GRPC),
	}
	if t.GRPC {
		d.Name = "go-connect-grpc"
		d.Doc = "connect-go's gRPC protocol over HTTP/2 of net/http; json is encoding/json over structs, not protojson"
		d.Wire = WireGRPC
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

// procedureOf returns what carries the messages of a trial. The error is of kind setup.
func procedureOf(setup contract.Setup) (rpc.Method, error) {
	own := rpc.MethodsOf(setup.Exchange).Unary
	if own != rpc.Own {
		return own, nil
	}
	given, _, err := rpc.Given(setup.Options)
	return given, err
}

// failure gives a failed call the contract's kind.
func failure(err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return known // of checking the content, or of dialling
	}
	if connect.IsWireError(err) {
		return load.Failure(contract.Invalid, err) // the server answered: it refuses the request
	}
	switch connect.CodeOf(err) {
	case connect.CodeDeadlineExceeded:
		return load.Failure(contract.Timeout, err)
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal, connect.CodeCanceled, connect.CodeAborted:
		return named(err)
	}
	return load.Failure(contract.Invalid, err)
}

// named gives a broken connection a reason without numbers of one stream.
func named(err error) error {
	lost := load.Failure(contract.Peer, err)
	var of *connect.Error
	var told *load.ReasonError
	if errors.As(err, &of) && errors.As(nethttp.Named(of.Unwrap()), &told) {
		return &load.ReasonError{Err: lost, Text: told.Text}
	}
	return lost
}

// invalid makes an error one of kind invalid; nil stays nil.
func invalid(err error) error {
	if err == nil || load.KindOf(err) == contract.Invalid {
		return err
	}
	return load.Failure(contract.Invalid, err)
}
