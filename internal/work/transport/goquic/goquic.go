// Package goquic is transport go-quic: streams of quic-go, one for each slot of a
// connection, which stays open. On a stream goes what goes on a connection of wires
// echo and stream. Wire quic.
package goquic

import (
	"maps"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/flow"
	"netdyno/internal/work/wire/quicwire"
)

// Wire is the wire's name, and what both ends agree on by ALPN.
const (
	Wire     = "quic"
	protocol = "netdyno"
)

const readBuffer = "read_buffer"

// Transport is go-quic.
type Transport struct{}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, float64(64<<20)
	return contract.Transport{
		Name:     "go-quic",
		Doc:      "streams of quic-go, one for each exchange in flight, over UDP, always encrypted",
		Wire:     Wire,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Features: append(flow.Features(), contract.FeatureTLS),
		Options: append(quicwire.Options(), contract.Option{
			Name: readBuffer, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &most,
			Doc: "read buffer of each stream; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (wire stream: 128 KiB)",
		}),
		Encrypted: true, UDP: true,
	}
}

// plan is what one end does in a trial. Any goroutine may use it.
type plan struct {
	work   *flow.Work
	buffer int64 // of each stream
}

// newPlan reads a setup and puts the effective buffer into its options. The error is
// of kind setup.
func newPlan(setup *contract.Setup) (*plan, error) {
	work, err := flow.NewWork(*setup)
	if err != nil {
		return nil, err
	}
	p := &plan{work: work, buffer: load.Options(setup.Options).Int(readBuffer)}
	if p.buffer == 0 {
		p.buffer = work.ReadBuffer(setup.Role)
	}
	setup.Options = maps.Clone(setup.Options)
	setup.Options[readBuffer] = p.buffer
	return p, nil
}
