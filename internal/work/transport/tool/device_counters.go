package tool

import (
	"sync"

	"netdyno/internal/contract"
)

// messageShape is how one message of a program travels, in packets.
type messageShape struct {
	bytes   int64 // payload
	packets int64 // that carry it, or for a read also ask for it
	answers int64 // packets that come the other way for it
}

// deviceCounters count by the port of a device for RDMA, as the kernel counts at
// sockets: the programs' messages are known, and nobody else may use the port.
// Any goroutine may use them.
type deviceCounters struct {
	port        rdmaPort
	role        contract.Role
	exchange    contract.Exchange
	connections int64
	shape       messageShape
	up          bool // whether messages go up; else down
	pingPong    bool // each message up is answered by one like it, down
	both        bool // whether the other end uses the same port

	mu     sync.Mutex
	first  *portCounts // where counting begins
	last   contract.Counts
	failed error
}

// headerBytes is what a packet has besides its payload, as ports count it.
func (p rdmaPort) headerBytes() int64 {
	if p.ethernet {
		return 14 + 20 + 8 + 12 + 4 // Ethernet, IP, UDP, transport header, checksum
	}
	return 8 + 12 + 4 // local and transport header, checksum
}

// readCounters implements trafficCounter.
func (d *deviceCounters) readCounters() contract.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := d.port.counts()
	if err != nil {
		if d.failed == nil {
			d.failed = err
		}
		return d.last
	}
	if d.first == nil {
		d.first = &now
	}
	messages := d.messages(portCounts{
		now.sentPackets - d.first.sentPackets, now.receivedPackets - d.first.receivedPackets,
		now.sentBytes - d.first.sentBytes, now.receivedBytes - d.first.receivedBytes,
	})
	up, down := int64(0), int64(0)
	switch {
	case d.pingPong:
		up, down = messages*d.exchange.UpBytes, messages*d.exchange.DownBytes
	case d.up:
		up = messages * d.shape.bytes
	default:
		down = messages * d.shape.bytes
	}
	sent, received := up, down
	if d.role == contract.Server {
		sent, received = down, up
	}
	if sent >= d.last.SentBytes && received >= d.last.ReceivedBytes {
		d.last = contract.Counts{
			Exchanges: d.exchanges(sent, received), SentBytes: sent, ReceivedBytes: received, Connections: d.connections,
		}
	}
	return d.last
}

// messages says how many messages a port's packets were, of one direction.
func (d *deviceCounters) messages(c portCounts) int64 {
	if c.sentBytes > 0 && !d.pingPong {
		// A card may answer several messages by one packet, so bytes tell more.
		payload := c.receivedBytes - c.receivedPackets*d.port.headerBytes()
		if sends := (d.role == contract.Client) == d.up; sends {
			payload = c.sentBytes - c.sentPackets*d.port.headerBytes()
		}
		return max(0, payload) / d.shape.bytes
	}
	each := d.shape.packets + d.shape.answers
	if d.pingPong {
		each *= 2
	}
	if d.both {
		each *= 2 // each packet is sent here and received here
	}
	return (c.sentPackets + c.receivedPackets) / each
}

// exchanges implements trafficCounter.
func (d *deviceCounters) exchanges(sent, received int64) int64 {
	return unitOf(d.exchange).exchanges(d.role, sent, received)
}

// begin implements trafficCounter.
func (d *deviceCounters) begin() {
	d.mu.Lock()
	d.first, d.last = nil, contract.Counts{}
	d.mu.Unlock()
	d.readCounters()
}

// follow implements trafficCounter: a port tells no processes apart.
func (d *deviceCounters) follow(int) {}

// err implements trafficCounter.
func (d *deviceCounters) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// settle implements trafficCounter: a port's counters go on when programs end.
func (d *deviceCounters) settle() {}

func (d *deviceCounters) close() {}
