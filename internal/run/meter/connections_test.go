package meter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

func init() {
	actors["dials"], actors["listens"] = dials, listens
}

// What a mark makes the worker dials do before it answers.
const (
	markWrites = 1 // 1,000 bytes on every connection
	markDials  = 2 // one connection more
	markCloses = 3 // the oldest
)

const answer = `{"mark":{"id":%d,"reset":%t,"reading":{"at_ns":1,"cpu_ns":1,"counts":{}}}}` + "\n"

// dials is a client that holds connections to its first peer.
func dials([]string) {
	var setup contract.Setup
	var open []net.Conn
	dial := func() {
		c, err := net.Dial("tcp", setup.Peers[0])
		if err != nil {
			panic(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // it was accepted
			panic(err)
		}
		open = append(open, c)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		m, err := contract.Parse(in.Bytes())
		if err != nil {
			panic(err)
		}
		switch {
		case m.Setup != nil:
			setup = *m.Setup
			for range setup.Load.Connections {
				dial()
			}
			fmt.Println(`{"ready":{}}`)
		case m.Mark != nil:
			switch m.Mark.ID {
			case markWrites:
				for _, c := range open {
					if _, err := c.Write(make([]byte, 1000)); err != nil {
						panic(err)
					}
				}
			case markDials:
				dial()
			case markCloses:
				open[0].Close()
				open = open[1:]
			}
			fmt.Printf(answer, m.Mark.ID, m.Mark.Reset)
		}
	}
}

// listens is a server that greets every connection with a byte and reads the rest. With
// the argument elsewhere the byte says that this is the other server.
func listens(args []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go greet(listener)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch line := in.Text(); {
		case strings.HasPrefix(line, `{"setup"`):
			fmt.Printf(`{"ready":{"addresses":[%q],"elsewhere":%t}}`+"\n", listener.Addr(), len(args) > 0)
		case strings.HasPrefix(line, `{"mark"`):
			fmt.Printf(answer, 1, true)
		}
	}
}

func greet(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if _, err := c.Write([]byte{1}); err == nil {
				_, _ = io.Copy(io.Discard, c) // until the other end goes
			}
		}()
	}
}

func (m *metered) mark(id int, reset bool) *contract.TCP {
	m.t.Helper()
	m.send(fmt.Sprintf(`{"mark":{"id":%d,"reset":%t}}`, id, reset))
	message, line := m.next()
	if message.Mark == nil || message.Meter == nil {
		m.t.Fatalf("got %q, want a decorated mark", line)
	}
	return message.Meter.TCP
}

func TestAClientsConnectionsAreItsOwn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go greet(listener)
	stranger, err := net.Dial("tcp", listener.Addr().String()) // another client's, to the same peer
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()

	m := run(t, bounds{}, "dials")
	m.send(fmt.Sprintf(`{"setup":{"role":"client","peers":[%q],"load":{"connections":3}}}`, listener.Addr()))
	if ready, line := m.next(); ready.Ready == nil || ready.Meter == nil || ready.Meter.TCP != nil {
		t.Fatalf("got %q, want ready without an account", line)
	}
	idle := m.mark(0, false)
	if idle == nil || idle.Sockets != 3 || idle.ReceivedBytes != 3 || idle.AckedBytes > 3 {
		t.Fatalf("connected: %+v, want 3 sockets that received a byte each and sent none", idle)
	}
	m.mark(markWrites, false)
	open := m.mark(0, true)
	for range 1000 { // an acknowledgement may be delayed
		if open.AckedBytes >= idle.AckedBytes+3000 {
			break
		}
		open = m.mark(0, true)
	}
	if open.Sockets != 3 || open.AckedBytes != idle.AckedBytes+3000 || open.SentSegments < 3 || open.RTTNs <= 0 || open.MaxRTTNs < open.RTTNs ||
		len(open.Congestion) != 1 || open.CongestionWindow <= 0 || open.SegmentBytes <= 0 || open.SendQueuedBytes != 0 {
		t.Errorf("after 3,000 bytes: %+v", open)
	}
	if more := m.mark(markDials, false); more == nil || more.Sockets != 3 {
		t.Errorf("with a connection that began inside the window: %+v, want 3 sockets", more)
	}
	if fewer := m.mark(markCloses, false); fewer == nil || fewer.Sockets != 2 {
		t.Errorf("with one gone: %+v, want 2 sockets", fewer)
	}
	m.in.Close()
	m.rest()
	if text := m.stderr.String(); text != "" { // of an account that could not be read
		t.Errorf("stderr: %s", text)
	}
}

func TestAServersConnectionsAreFoundByItsPorts(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		worker := []string{"listens", "elsewhere"}
		if !elsewhere {
			worker = worker[:1]
		}
		m := run(t, bounds{}, worker...)
		m.send(`{"setup":{"role":"server","load":{"connections":2}}}`)
		ready, line := m.next()
		if ready.Ready == nil || len(ready.Ready.Addresses) != 1 {
			t.Fatalf("got %q, want ready with an address", line)
		}
		if account := m.mark(1, false); account != nil {
			t.Errorf("before anybody connected: %+v, want none", account)
		}
		for range 2 {
			c, err := net.Dial("tcp", ready.Ready.Addresses[0])
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		switch account := m.mark(1, true); {
		case elsewhere && account != nil:
			t.Errorf("a server elsewhere: %+v, want none", account)
		case !elsewhere && (account == nil || account.Sockets != 2 || account.SentSegments < 2):
			t.Errorf("two connections: %+v", account)
		}
	}
}

func TestWhatHasNoAccount(t *testing.T) {
	client := func(change func(*contract.Setup)) *connections {
		s := contract.Setup{Role: contract.Client, Peers: []string{"127.0.0.1:9"}, Load: contract.Load{Connections: 1}}
		change(&s)
		c := new(connections)
		c.setUp(&s)
		c.ready(&contract.Ready{Addresses: []string{"127.0.0.1:9"}})
		return c
	}
	if c := client(func(*contract.Setup) {}); len(c.query.RemotePorts) != 1 || len(c.query.LocalPorts) != 0 {
		t.Fatalf("an ordinary client asks for %+v", c.query)
	}
	for name, change := range map[string]func(*contract.Setup){
		"a pair":              func(s *contract.Setup) { s.Role = contract.Pair },
		"fresh connections":   func(s *contract.Setup) { s.Load.Fresh = true },
		"a peer without port": func(s *contract.Setup) { s.Peers = []string{"127.0.0.1:9", "unix:/run/x"} },
		"too many ports": func(s *contract.Setup) {
			for port := range tcpinfo.MaxPorts + 1 {
				s.Peers = append(s.Peers, fmt.Sprintf("127.0.0.1:%d", 1000+port))
			}
		},
	} {
		asked := client(change)
		account, err := asked.readConnections(true, func() map[uint32]bool { t.Errorf("%s: looked at the worker's files", name); return nil })
		if account != nil || err != nil || len(asked.query.LocalPorts)+len(asked.query.RemotePorts) > 0 {
			t.Errorf("%s: account %+v, error %v, query %+v", name, account, err, asked.query)
		}
	}
}

func TestPortsAreReadOnce(t *testing.T) {
	got := ports([]string{"[::1]:80", "127.0.0.1:70", "localhost:80"})
	if !slices.Equal(got, []uint16{70, 80}) {
		t.Errorf("ports %v", got)
	}
}

// More connections than can be read in time are a sample, which is the same at every mark
// and says of how many it is.
func TestManyConnectionsAreASample(t *testing.T) {
	const mine, others = contract.MaxSockets + 300, 200
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go greet(listener)
	held := map[uint32]bool{}
	for range others {
		dialled(t, listener)
	}
	strangers := map[uint32]bool{}
	tcpinfo.Held(os.Getpid(), strangers)
	for range mine {
		dialled(t, listener)
	}
	tcpinfo.Held(os.Getpid(), held)
	maps.DeleteFunc(held, func(inode uint32, _ bool) bool { return strangers[inode] })
	c := new(connections)
	c.setUp(&contract.Setup{Role: contract.Client, Peers: []string{listener.Addr().String()}})
	c.part.allowed = 1 // nanosecond
	asked := 0
	account := func(opens bool) *contract.TCP {
		t.Helper()
		a, err := c.readConnections(opens, func() map[uint32]bool { asked++; return held })
		if err != nil || a == nil {
			t.Fatalf("account %+v, error %v", a, err)
		}
		return a
	}
	idle := account(false)
	if idle.Of != mine || idle.Sockets > contract.MaxSockets || idle.Sockets < contract.MaxSockets-others || idle.Each != nil || idle.ReceivedBytes > int64(idle.Sockets) {
		t.Errorf("idle: %+v, want %d to %d of %d, with a byte each", idle, contract.MaxSockets-others, contract.MaxSockets, mine)
	}
	if opens, closes := account(true), account(false); asked != 1 || opens.Sockets != idle.Sockets || closes.Sockets != idle.Sockets || closes.Of != mine {
		t.Errorf("looked at the files %d times; then %+v, then %+v; want the same sockets", asked, opens, closes)
	}
}

func dialled(t *testing.T, listener net.Listener) {
	t.Helper()
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // it was accepted
		t.Fatal(err)
	}
}

// Connections that are many more than before the load end the account, and it is not an
// error that repeats itself at every mark.
func TestConnectionsThatMultiplyEndTheAccount(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go greet(listener)
	for range 3 {
		dialled(t, listener)
	}
	c := new(connections)
	c.setUp(&contract.Setup{Role: contract.Client, Peers: []string{listener.Addr().String()}})
	c.part.most = 2
	if account, err := c.readConnections(false, func() map[uint32]bool { return nil }); account != nil || !errors.Is(err, tcpinfo.ErrMany) {
		t.Errorf("account %+v, error %v", account, err)
	}
	if account, err := c.readConnections(false, nil); account != nil || err != nil {
		t.Errorf("once more: account %+v, error %v", account, err)
	}
}

func TestSumIsOfTheWorkersOwn(t *testing.T) {
	mine := map[uint32]bool{1: true, 2: true, 3: false}
	socket := func(inode uint32, acked, window int64, congestion string) tcpinfo.Socket {
		return tcpinfo.Socket{Inode: inode, Info: tcpinfo.Info{AckedBytes: acked, CongestionWindow: window, Congestion: congestion}}
	}
	got := sum([]tcpinfo.Socket{
		socket(1, 10, 4, "cubic"), socket(2, 20, 8, "bbr"), socket(3, 100, 1, "reno"), socket(4, 100, 1, "reno"), socket(1, 11, 4, "cubic"),
	}, mine)
	if got == nil || got.Sockets != 2 || got.AckedBytes != 30 || got.CongestionWindow != 6 || !slices.Equal(got.Congestion, []string{"bbr", "cubic"}) {
		t.Errorf("%+v, want the sum of the sockets 1 and 2, each once", got)
	}
	if got := sum([]tcpinfo.Socket{socket(3, 1, 1, "")}, mine); got != nil {
		t.Errorf("of another's alone: %+v, want none", got)
	}
	if len(slices.Collect(maps.Keys(mine))) != 3 {
		t.Error("summing up changed whose they are")
	}
}
