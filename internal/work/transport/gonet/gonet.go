// Package gonet is transport go-net: the net package as most Go programs use
// it, one goroutine for each connection, two where bytes travel both ways at
// the same time. Wires echo and stream.
package gonet

import (
	"fmt"
	"os"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Transport is go-net.
type Transport struct{}

// Options, and the levels of those that are choices.
const (
	readBuffer = "read_buffer"

	optionSend   = "send"
	sendWrite    = "write"
	sendFile     = "sendfile"
	sendZerocopy = "zerocopy"

	optionReceive   = "receive"
	receiveRead     = "read"
	receiveTruncate = "truncate"
	receiveSplice   = "splice"

	optionEcho = "echo"
	echoCopy   = "copy"
	echoSplice = "splice"
)

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, float64(64<<20)
	return contract.Transport{
		Name:     "go-net",
		Doc:      "Go's net package, one goroutine per connection",
		Wire:     wire.Echo,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Features: wire.Features(),
		Options: append([]contract.Option{
			{
				Name: readBuffer, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &most,
				Doc: "read buffer of each connection; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (streams: 128 KiB)",
			},
			{
				Name: optionSend, Type: contract.TypeChoice, Default: sendWrite, Choices: []string{sendWrite, sendFile, sendZerocopy},
				Doc: "wire stream. sendfile: from a file in memory that holds the block; zerocopy: MSG_ZEROCOPY, where the kernel may copy all the same, " +
					"as it does on loopback, and says so only afterwards: a client's ready tells of the verified exchanges (zerocopy_copied)",
			},
			{
				Name: optionReceive, Type: contract.TypeChoice, Default: receiveRead, Choices: []string{receiveRead, receiveTruncate, receiveSplice},
				Doc: "wire stream, after the verified exchange. truncate: MSG_TRUNC drops the bytes in the kernel; splice: through a pipe into /dev/null. " +
					"With either they never reach the application's memory; delivery is chunks all the same",
			},
			{
				Name: optionEcho, Type: contract.TypeChoice, Default: echoCopy, Choices: []string{echoCopy, echoSplice}, Roles: []contract.Role{contract.Server},
				Doc: "wire echo. splice: socket to pipe to socket, past the application's memory; delivery is chunks all the same",
			},
		}, wire.SocketOptions()...),
	}
}

// plan is what one end does in a trial, options resolved. Any goroutine may use
// it.
type plan struct {
	work    *wire.Work
	options load.Options
	buffer  int64
	file    *os.File // holds the outgoing block, for sendfile
	null    *os.File // /dev/null, for splice
	closing int      // an eventfd that is readable from Close on, for those who wait in poll(2)
}

// newPlan reads a setup, and puts effective values into its options. The error
// is of kind setup.
func newPlan(setup contract.Setup) (*plan, error) {
	work, err := wire.NewWork(setup)
	if err != nil {
		return nil, err
	}
	p := &plan{work: work, options: setup.Options, closing: -1}
	if err := p.contradiction(setup.Role); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	if p.buffer = p.options.Int(readBuffer); p.buffer == 0 {
		p.buffer = usualBuffer(work, setup.Role)
	}
	p.options[readBuffer] = p.buffer
	if err := wire.BuffersOf(setup).Effective(setup.Options); err != nil {
		return nil, err
	}
	outgoing := &work.Up
	if setup.Role == contract.Server {
		outgoing = &work.Down
	}
	if err := p.open(outgoing); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	return p, nil
}

// contradiction finds an option that means nothing on the trial's wire.
func (p *plan) contradiction(role contract.Role) error {
	for _, o := range []struct {
		name, usual string
		streams     bool
	}{{optionSend, sendWrite, true}, {optionReceive, receiveRead, true}, {optionEcho, echoCopy, false}} {
		if o.name == optionEcho && role != contract.Server || o.streams == p.work.Streams() {
			continue
		}
		if got := p.options.Text(o.name); got != o.usual {
			return fmt.Errorf("option %s is %s, which means nothing here (stream %v); expected %s", o.name, got, p.work.Streams(), o.usual)
		}
	}
	return nil
}

// usualBuffer is the read buffer of a user who sets none.
func usualBuffer(work *wire.Work, role contract.Role) int64 {
	least, most, comes := int64(4<<10), int64(64<<10), work.Up.Bytes
	if role == contract.Client {
		least, comes = 512, work.Down.Bytes // a client knows what comes
	}
	if work.Streams() {
		most = 128 << 10
	}
	return min(max(comes, least), most)
}
