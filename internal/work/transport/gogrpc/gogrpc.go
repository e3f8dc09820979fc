// Package gogrpc is transport go-grpc: google.golang.org/grpc, the client and
// the server of service netdyno.v1.Exchange (exchange.proto). A connection is
// one grpc.ClientConn and one TCP connection; exchanges in flight on it are
// concurrent RPCs.
//
//	server.go      listens, configures, reflects         handle.go    registers the methods, answers them
//	client.go      opens and verifies connections       call.go      one exchange: unary, or on a stream that stays
//	connection.go  one ClientConn that dials once       chunk.go     one exchange cut into chunks, at both ends
//	payload.go     what the library is given to send    encoding.go  how that becomes bytes
//	options.go     every option and its effective value ask.go       what a user has a client say
//	follow.go      calls of another's method that streams
package gogrpc

import (
	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
)

// Wire is the service's name: any client and any server of exchange.proto.
const Wire = "grpc:netdyno.v1"

// Transport is go-grpc. Codecs are those that its worker links, besides bytes.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return contract.Transport{
		Name:     "go-grpc",
		Doc:      "gRPC by google.golang.org/grpc: one connection is one ClientConn, exchanges in flight are concurrent RPCs",
		Wire:     Wire,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(t.Codecs),
		Features: []contract.Feature{
			contract.FeatureTLS, contract.FeatureFresh, contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureMixedTurns, contract.FeatureMix, contract.FeatureTrace, contract.FeatureThink, contract.FeatureTimes,
			contract.FeatureDeadline, contract.FeatureMethods, contract.FeatureEvents, contract.FeatureStages, contract.FeatureResume,
			contract.FeatureWorkCPU, contract.FeatureWorkSleep,
			contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth,
		},
		Options: options,
	}
}
