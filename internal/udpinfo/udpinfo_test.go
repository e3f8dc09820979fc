package udpinfo

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

const snmp = `Icmp: InMsgs
Icmp: 7
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
Udp: 10 2 3 40 5 6 7
UdpLite: InDatagrams
UdpLite: 99
`

func TestCountersAreReadByName(t *testing.T) {
	var c Counters
	if err := c.addIPv4(strings.NewReader(snmp)); err != nil {
		t.Fatal(err)
	}
	if err := c.addIPv6(strings.NewReader("Ip6InReceives 5\nUdp6InDatagrams \t1\nUdp6RcvbufErrors 100\n")); err != nil {
		t.Fatal(err)
	}
	if want := (Counters{In: 11, Out: 40, NoPorts: 2, InErrors: 3, ReceiveBufferErrors: 105, SendBufferErrors: 6}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func TestTablesThatCannotBeAreRefused(t *testing.T) {
	for _, table := range []string{"", "Udp: In Out\nUdp: 1\n", "Udp: InDatagrams\nUdp: many\n", "Udp: InDatagrams\n"} {
		if err := new(Counters).addIPv4(strings.NewReader(table)); err == nil {
			t.Errorf("%q is taken for counters", table)
		}
	}
	for _, line := range []string{"", "1: 2 3", "1: a b 07 00000000:0000000Z 0 0 0 0 1 2 3 4"} {
		if _, err := parse(line); err == nil {
			t.Errorf("%q is taken for a socket", line)
		}
	}
}

func TestNoMoreSocketsAreKeptThanAskedFor(t *testing.T) {
	const line = " 1: 0100007F:1F90 00000000:0000 07 00000003:00000010 00:00000000 00000000 0 0 42 2 0 9\n"
	all, err := appendSockets(nil, 2, strings.NewReader("heading\n"+line+line))
	if err != nil || len(all) != 2 || all[0] != (Socket{Inode: 42, SendQueue: 3, ReceiveQueue: 16, Drops: 9}) {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := appendSockets(nil, 2, strings.NewReader("heading\n"+strings.Repeat(line, 3))); !errors.Is(err, ErrMany) {
		t.Errorf("error %v of a table that is too long", err)
	}
}

func FuzzTables(f *testing.F) {
	f.Add(snmp)
	f.Fuzz(func(_ *testing.T, text string) {
		_ = new(Counters).addIPv4(strings.NewReader(text))
		_ = new(Counters).addIPv6(strings.NewReader(text))
		_, _ = appendSockets(nil, 10, strings.NewReader(text))
	})
}

// A socket that nobody reads drops what does not fit into its buffer, and this
// kernel tells of it.
func TestThisKernelTellsOfDrops(t *testing.T) {
	receiver, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	if err := receiver.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	sender, err := net.DialUDP("udp", nil, receiver.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	before := total(t)
	for deadline := time.Now().Add(10 * time.Second); total(t).drops == before.drops; {
		if time.Now().After(deadline) {
			t.Fatalf("no drops are told of: %+v", total(t))
		}
		for range 100 {
			if _, err := sender.Write(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := total(t)
	if after.ReceiveBufferErrors <= before.ReceiveBufferErrors || after.Out <= before.Out {
		t.Errorf("the namespace counted %+v, and before %+v", after.Counters, before.Counters)
	}
}

// counted is what the kernel tells of the namespace and of all its sockets.
type counted struct {
	Counters
	drops int64
}

func total(t *testing.T) counted {
	t.Helper()
	c, err := Namespace()
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := Sockets(100_000)
	if err != nil {
		t.Fatal(err)
	}
	all := counted{Counters: c}
	for _, s := range sockets {
		all.drops += s.Drops
	}
	return all
}
