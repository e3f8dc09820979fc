package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// faultyPrefix is what the executables of pretenders begin with; the fault's
// name follows, and is the name of the one transport too.
const faultyPrefix = "netdyno-worker-faulty-"

// pretender speaks the contract without moving a byte, except as a server,
// and keeps it but for one fault.
type pretender struct {
	fault   fault
	out     *contract.Writer
	setup   contract.Setup
	begun   time.Time
	opened  time.Time
	closed  time.Time
	metered bool
}

// pretend runs the pretender of a fault and does not return.
func pretend(name string) {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	p := &pretender{fault: faults[i], out: contract.NewWriter(os.Stdout), begun: time.Now(), metered: underMeter()}
	if !p.strike(atBirth) {
		p.greet(contract.Version)
	}
	in := contract.NewReader(os.Stdin)
	for {
		m, err := in.Read()
		if err != nil {
			p.strike(atEnd)
			os.Exit(0)
		}
		if !p.strike(p.pointOf(m)) {
			p.answer(m)
		}
	}
}

// greet introduces the pretender in a version of the contract.
func (p *pretender) greet(version int) {
	name := p.fault.name
	p.say(contract.Message{Hello: &contract.Hello{
		Contract: version, Worker: faultyPrefix + name, Version: "1",
		Transports: []contract.Transport{{Name: name, Doc: "breaks the contract", Wire: "echo", Roles: []contract.Role{p.fault.role}, Delivery: contract.DeliveryChunks}},
	}})
}

// pointOf is the time that a message is: marks differ by what they do to the
// window.
func (p *pretender) pointOf(m contract.Message) point {
	switch {
	case m.Mark == nil:
		return point(m.Name())
	case m.Mark.Reset:
		return atMark
	case p.opened.IsZero():
		return atIdle
	}
	return atClose
}

// underMeter tells a trial from the bench's first look at the worker.
func underMeter() bool {
	path := fmt.Sprintf("/proc/%d/cmdline", os.Getppid())
	command, err := os.ReadFile(path)
	return err == nil && bytes.Contains(command, []byte("\x00meter\x00"))
}

// strike commits the fault when its time has come. It returns true when that
// took the place of the answer.
func (p *pretender) strike(at point) bool {
	if p.fault.at != at || !p.metered || p.fault.do == nil {
		return false
	}
	return p.fault.do(p)
}

func (p *pretender) say(m contract.Message) {
	if err := p.out.Write(m); err != nil {
		os.Exit(1)
	}
}

func (p *pretender) answer(m contract.Message) {
	switch {
	case m.Setup != nil:
		p.setup = *m.Setup
		p.say(contract.Message{Ready: p.ready()})
	case m.Mark != nil:
		switch p.pointOf(m) {
		case atMark:
			p.opened = time.Now()
		case atClose:
			p.closed = time.Now()
		}
		p.say(contract.Message{Mark: &contract.Mark{ID: m.Mark.ID, Reset: m.Mark.Reset, Reading: p.reading()}})
	case m.Stop != nil:
		p.say(contract.Message{Result: p.result()})
	}
}

func (p *pretender) ready() *contract.Ready {
	r := &contract.Ready{Connections: p.setup.Load.Connections, Verified: p.setup.Load.Connections}
	if p.fault.role == contract.Server {
		r = &contract.Ready{Addresses: []string{answer(p.fault.connection)}}
	}
	if p.fault.readiness != nil {
		p.fault.readiness(r)
	}
	return r
}

func (p *pretender) reading() *contract.Reading {
	return &contract.Reading{AtNs: p.instant(time.Now()), Counts: p.counts(100)}
}

// instant reads the pretender's clock.
func (p *pretender) instant(at time.Time) int64 {
	return int64(float64(at.Sub(p.begun)) * cmp.Or(p.fault.pace, 1))
}

func (p *pretender) counts(exchanges int64) contract.Counts {
	if p.fault.role == contract.Server {
		n := echoed.Load()
		return contract.Counts{Exchanges: n / p.setup.Exchange.UpBytes, SentBytes: n, ReceivedBytes: n}
	}
	return contract.Counts{
		Exchanges: exchanges, SentBytes: exchanges * p.setup.Exchange.UpBytes, ReceivedBytes: exchanges * p.setup.Exchange.DownBytes,
	}
}

// result is an account whose books close: so many exchanges with so many
// times, few and short enough for Little's law.
func (p *pretender) result() *contract.Result {
	const exchanges = 100
	times := hist.New()
	times.Record(int64(time.Microsecond), exchanges)
	r := &contract.Result{FromNs: p.instant(p.opened), ToNs: p.instant(p.closed), Counts: p.counts(exchanges)}
	r.Service, _ = times.Encode() // a histogram of one value encodes
	if p.fault.lie != nil {
		p.fault.lie(r)
	}
	return r
}

// echoed is the payload that an honest server sent back, in bytes.
var echoed atomic.Int64

func echo(c net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		echoed.Add(int64(n)) // first: who has the answer may ask for the count
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

// serve echoes on a free port, or treats each connection in the fault's way.
func answer(connection func(net.Conn)) string {
	if connection == nil {
		connection = echo
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	go accept(l, connection)
	return l.Addr().String()
}

// The faults that any message can meet.

// hang says nothing more, but ends with stdin.
func hang(*pretender) bool {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
	return true
}

// deafen does not even end with stdin.
func deafen(*pretender) bool {
	for {
		time.Sleep(time.Hour)
	}
}

func die(*pretender) bool {
	_, _ = os.Stderr.WriteString("the disk is on fire\n")
	os.Exit(3)
	return true
}

func quit(*pretender) bool {
	os.Exit(0)
	return true
}

func crash(*pretender) bool {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return deafen(nil)
}

func chatter(*pretender) bool {
	_, _ = os.Stdout.WriteString("warming up the caches...\n")
	return hang(nil)
}

func blare(*pretender) bool {
	_, _ = os.Stdout.Write(bytes.Repeat([]byte{0xff}, 3<<20))
	return hang(nil)
}

// flood sends ticks as fast as they are taken.
func flood(p *pretender) bool {
	go func() {
		for {
			p.say(contract.Message{Tick: &contract.Tick{AtNs: int64(time.Since(p.begun)), Exchanges: 1}})
		}
	}()
	return false
}
