// Package gonet is transport go-net: the net package as most Go programs use
// it, one goroutine for each connection, two where bytes travel both ways at
// the same time. Wires echo and stream.
package gonet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// Transport is go-net.
type Transport struct{}

// Options, and the levels of those that are choices.
const (
	readBuffer = "read_buffer"

	optionSend = "send"
	sendWrite  = "write"
	sendFile   = "sendfile"

	optionReceive   = "receive"
	receiveRead     = "read"
	receiveTruncate = "truncate"
)

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, float64(64<<20)
	return contract.Transport{
		Name:     "go-net",
		Doc:      "Go's net package, one goroutine per connection",
		Wire:     flow.Echo,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Features: append(flow.Features(), contract.FeatureEvents, contract.FeatureStages),
		Options: append([]contract.Option{
			{
				Name: readBuffer, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &most,
				Doc:  "read buffer of each connection; 0 takes the size of what comes within 4 KiB (client: 512 B) and 64 KiB (streams: 128 KiB)",
				Grid: []string{"4KiB", "64KiB", "256KiB"},
			},
			{
				Name: optionSend, Type: contract.TypeChoice, Default: sendWrite, Choices: []string{sendWrite, sendFile},
				Doc: "wire stream. sendfile: from a file in memory that holds the block",
			},
			{
				Name: optionReceive, Type: contract.TypeChoice, Default: receiveRead, Choices: []string{receiveRead, receiveTruncate},
				Doc: "wire stream, after the verified exchange. truncate: MSG_TRUNC drops the bytes in the kernel, so they never reach " +
					"the application's memory; delivery is chunks all the same",
			},
			flow.ContentOption(),
		}, wire.SocketOptions()...),
	}
}

// plan is what one end does in a trial, with its options resolved. Any goroutine
// may use it.
type plan struct {
	work    *flow.Work
	options load.Options
	buffer  int64
	file    *os.File // holds the outgoing block, for sendfile
}

// newPlan reads a setup and puts effective values into its options. The error is
// of kind setup.
func newPlan(setup contract.Setup) (*plan, error) {
	work, err := flow.NewWork(setup)
	if err != nil {
		return nil, err
	}
	p := &plan{work: work, options: setup.Options}
	for name, usual := range map[string]string{optionSend: sendWrite, optionReceive: receiveRead} {
		if got := p.options.Text(name); got != usual && !work.Streams() {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option %s is %s, which only wire stream has; expected %s", name, got, usual))
		}
	}
	if p.buffer = p.options.Int(readBuffer); p.buffer == 0 {
		p.buffer = work.ReadBuffer(setup.Role)
	}
	p.options[readBuffer] = p.buffer
	if err := wire.BuffersOf(setup).Effective(setup.Options); err != nil {
		return nil, err
	}
	outgoing := &work.Up
	if setup.Role == contract.Server {
		outgoing = &work.Down
	}
	if p.options.Text(optionSend) == sendFile {
		if flow.Spreads(setup) {
			return nil, load.Failure(contract.Unsupported, errors.New("option content is stream and send is sendfile, whose file holds one block"))
		}
		if p.file, err = newFile(outgoing); err != nil {
			return nil, load.Failure(contract.SetupFailed, err)
		}
	}
	return p, nil
}

// equip makes a connection send outgoing and receive as the options say. The first
// bytes that come in are always read.
func (p *plan) equip(conn net.Conn, outgoing *flow.Content, first int64) (*connection, error) {
	c := &connection{Conn: conn, read: conn.Read, write: conn.Write, buffer: make([]byte, p.buffer)}
	if p.file == nil && p.options.Text(optionReceive) == receiveRead {
		return c, nil
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("reach the socket: %w", err)
	}
	if p.file != nil {
		c.write = newSendfile(raw, outgoing, p.file).writePiece
	}
	if p.options.Text(optionReceive) == receiveTruncate {
		c.read = newTruncating(conn, raw, first).readTruncated
	}
	return c, nil
}
