// Package baidu is transport baidu-std: client and server of baidu_std, the
// protocol of Apache brpc, in Go without brpc. A connection is one TCP
// connection; exchanges in flight on it are calls with different correlation ids.
//
//	server.go      listens, counts                serve.go   answers one connection's frames
//	client.go      connects, verifies             call.go    one exchange, alone on its connection
//	connection.go  one TCP connection's frames    shared.go  one exchange among others on its connection
//	content.go     what a frame carries           outbox.go  frames gathered into writes
//	options.go     every option                   method.go  which method a trial calls
package baidu

import (
	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
)

// Wire is the protocol's name: any client and any server of it that have the
// method in common.
const Wire = "baidu_std"

// Transport is baidu-std.
type Transport struct{}

// codecs are those of the protocol, which knows protobuf alone.
var codecs = []codec.Codec{codec.Proto{}}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	return contract.Transport{
		Name:     "baidu-std",
		Doc:      "brpc's protocol baidu_std in Go: concurrent calls by correlation ids, bulk as attachments",
		Wire:     Wire,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryMessage,
		Codecs:   codec.Names(codecs),
		Features: []contract.Feature{contract.FeatureTLS, contract.FeatureFresh},
		Options:  options,
	}
}
