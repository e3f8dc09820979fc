// Package baidu is transport baidu-std: client and server of baidu_std, the
// protocol of Apache brpc, in Go without brpc. A connection is one TCP
// connection; exchanges in flight on it are calls with different correlation ids.
//
//	server.go      listens, counts                serve.go   answers one connection's frames
//	client.go      connects, verifies             call.go    one exchange, alone on its connection
//	connection.go  one TCP connection's frames    shared.go  one exchange among others on its connection
//	content.go     what a frame carries           outbox.go  frames gathered into writes
//	baidu.go       every option, and which method a trial calls
package baidu

import (
	"fmt"
	"maps"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
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
		Features: []contract.Feature{contract.FeatureTLS, contract.FeatureFresh, contract.FeatureArrivals, contract.FeatureTurns},
		Options:  options,
	}
}

const (
	defaultBuffer = 16 << 10
	// defaultMaxBody is brpc's own (flag max_body_size).
	defaultMaxBody = 64 << 20
)

// The values of options payload and connection.
const (
	payloadBlock      = "block"
	payloadAttachment = "attachment"

	connectionSingle = "single"
	connectionPooled = "pooled"
)

var (
	leastBuffer, mostBuffer = 16.0, float64(64 << 20)
	none                    = 0.0
	leastBody, mostBody     = 1024.0, float64(1<<31 - 1)
	onlyClient              = []contract.Role{contract.Client}
)

var options = []contract.Option{
	{Name: "payload", Type: contract.TypeChoice, Default: payloadBlock, Choices: []string{payloadBlock, payloadAttachment},
		Doc: "how codec bytes is sent: block, in a protobuf Block; attachment, beside an empty Block and without a copy, as brpc sends bulk; give both ends the same"},
	{Name: "max_body", Type: contract.TypeBytes, Default: defaultMaxBody, Min: &leastBody, Max: &mostBody,
		Doc: "largest body (meta, message and attachment) this end receives; a connection that announces more is closed. brpc's flag max_body_size"},
	rpc.MethodOption("full name (/package.Service/Method) of the method for a message of your own; any other than the default carries all messages, for a server or client of your own"),
	{Name: "read_buffer", Type: contract.TypeBytes, Default: defaultBuffer, Min: &leastBuffer, Max: &mostBuffer,
		Doc: "bytes asked of the socket at once, per connection; the rest of a larger body is read into its own buffer"},
	{Name: "write_buffer", Type: contract.TypeBytes, Default: defaultBuffer, Min: &none, Max: &mostBuffer,
		Doc: "a server gathers replies up to this size for one write; a larger attachment is written without a copy, a smaller one is copied behind its frame"},
	{Name: "connection", Type: contract.TypeChoice, Default: connectionSingle, Choices: []string{connectionSingle, connectionPooled}, Roles: onlyClient,
		Doc: "single: calls share a connection, as many as are in flight; pooled: a connection belongs to one call at a time, so in_flight above 1 is refused. brpc's connection_type; either way a connection of the trial is one TCP connection"},
	wire.VerifyOption(),
}

// effective checks the options against the exchange and returns them. The error is
// of kind setup for a limit that the exchange exceeds, unsupported for options that
// contradict the exchange.
func effective(setup contract.Setup, x *codec.Exchange) (load.Options, error) {
	o := load.Options(maps.Clone(setup.Options))
	if x.Structured() && o.Text("payload") == payloadAttachment {
		return nil, load.Failure(contract.Unsupported, fmt.Errorf(
			"option payload is %s and exchange.codec is %s: attachments carry codec bytes alone", payloadAttachment, x.Codec.Name()))
	}
	incoming, what := x.UpBytes, "requests"
	if setup.Role == contract.Client {
		incoming, what = x.DownBytes, "replies"
		if o.Text("connection") == connectionPooled && setup.Load.InFlight > 1 {
			return nil, load.Failure(contract.Unsupported, fmt.Errorf(
				"load.in_flight is %d and option connection is %s: a pooled connection carries one call at a time; use more connections or connection=%s",
				setup.Load.InFlight, connectionPooled, connectionSingle))
		}
	}
	if limit := o.Int("max_body"); incoming > limit {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf(
			"option max_body is %d and the exchange's %s carry %d bytes: raise it (opt.max_body)", limit, what, incoming))
	}
	return o, nil
}

// called returns the method that a client calls. The error is of kind setup.
func called(setup contract.Setup, o load.Options) (rpc.Method, error) {
	m, given, err := rpc.Given(o)
	if err != nil || given {
		return m, err
	}
	return rpc.MethodsOf(setup.Exchange).Unary, nil
}

// served returns the methods that a server answers. The error is of kind setup.
func served(setup contract.Setup, o load.Options) ([]rpc.Method, error) {
	out := []rpc.Method{rpc.MethodsOf(setup.Exchange).Unary}
	m, given, err := rpc.Given(o)
	if given {
		out = append(out, m)
	}
	return out, err
}

// means reports whether a request for a service means the service of m. A name without a
// package means any service whose last name it is: jprotobuf's clients send such names,
// and brpc's servers accept them, as a Java program's service has no package. So
// "Exchange" means netdyno.v1.Exchange, too.
func means(service []byte, m rpc.Method) bool {
	if string(service) == m.Service {
		return true
	}
	start := strings.LastIndexByte(m.Service, '.') + 1
	return string(service) == m.Service[start:]
}
