// Package gowebsocket is transport go-websocket: messages on connections of WebSocket
// (RFC 6455) by github.com/gobwas/ws, server and client. Wire websocket.
package gowebsocket

import (
	"slices"

	"github.com/gobwas/ws"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire/httpwire"
)

// Wire is a binary message up and one down on a connection that stays open; with stream=down
// several down.
const Wire = "websocket"

// Transport is go-websocket, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// The levels of option message: what a request is.
const (
	binary = "binary"
	text   = "text"
	none   = "none"
)

// opcodes are those of the messages.
var opcodes = map[string]ws.OpCode{binary: ws.OpBinary, text: ws.OpText}

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	return contract.Transport{
		Name: "go-websocket", Doc: "WebSocket by gobwas/ws, which reuses what net/http allocates", Wire: Wire,
		Roles: []contract.Role{contract.Server, contract.Client}, Delivery: contract.DeliveryMessage, Codecs: codec.Names(t.Codecs),
		Features: []contract.Feature{
			contract.FeatureTLS, contract.FeatureFresh, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureDeadline,
			contract.FeatureStreamDown, contract.FeatureEvents, contract.FeatureStages, contract.FeatureResume, contract.FeatureData, contract.FeatureWorkCPU, contract.FeatureWorkSleep,
		},
		Options: options(),
	}
}

// options declares what a study may set; every one is the client's.
func options() []contract.Option {
	own := []contract.Option{{
		Name: "message", Type: contract.TypeChoice, Default: binary, Choices: []string{binary, text, none}, Roles: []contract.Role{contract.Client},
		Doc: "what a request is: a binary message, one of text, or none, where another's server sends by itself",
	}}
	ending := slices.DeleteFunc(httpwire.EventOptions(), func(o contract.Option) bool { return o.Name == "events" }) // a message is one
	return slices.Concat(own, httpwire.HandshakeOptions(), ending)
}
