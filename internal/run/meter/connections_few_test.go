package meter

import (
	"net"
	"os"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
	"netdyno/internal/tcpinfo"
)

func TestATickLooksAtConnectionsAfterTheFirstMark(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for range 3 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	var c connections
	c.setUp(&contract.Setup{
		Role: contract.Client, Peers: []string{l.Addr().String()}, Timeline: true,
		Load: contract.Load{Connections: contract.MaxSockets + 1}, // so many that ticks look less often
	})
	held := func() map[uint32]bool {
		all := map[uint32]bool{}
		tcpinfo.Held(os.Getpid(), all)
		return all
	}
	if got, err := c.glance(held); got != nil || err != nil {
		t.Errorf("before any mark %+v, %v; want nothing: the clients may still connect", got, err)
	}
	if whole, err := c.readConnections(false, held); whole == nil || whole.Sockets != 3 || err != nil {
		t.Errorf("a mark's account %+v, %v; want all three", whole, err)
	}
	for tick := range 3 * glanceEvery {
		got, err := c.glance(held)
		if err != nil {
			t.Fatal(err)
		}
		if looks := tick%(2*glanceEvery) == 0; looks != (got != nil) || got != nil && got.Sockets != 3 {
			t.Errorf("tick %d sees %+v, want 3 connections at every tenth", tick, got)
		}
	}
}

func TestAGlanceIsOfTheTreesCPUAndMemory(t *testing.T) {
	r, err := usage.NewReader(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Glance(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Process; p.CPUNs <= 0 || p.RSSBytes < 1<<20 || p.Processes < 1 || p.Threads < 1 {
		t.Errorf("a glance at this process tells %+v", p)
	}
}
