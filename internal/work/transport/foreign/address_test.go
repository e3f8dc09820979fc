package foreign_test

import (
	"net"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/worker/workertest"
)

func addressSetup(address string) contract.Setup {
	return contract.Setup{
		Transport: "address", Role: contract.Server, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1},
		Options:  map[string]any{"address": address, "wire": "http/1.1"},
	}
}

// A server that runs already is found, named, and left alone.
func TestAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	b := workertest.Start(t, foreign.Address{})
	ready := b.Setup(addressSetup("localhost:" + port))
	if !ready.Foreign || !ready.Elsewhere || len(ready.Addresses) != 1 || ready.Addresses[0] != l.Addr().String() {
		t.Errorf("ready is %+v, want foreign, elsewhere and address %s", ready, l.Addr())
	}
	if got := ready.Options["address"]; got != "localhost:"+port {
		t.Errorf("the effective address is %v, want the one that was given", got)
	}
	if got := b.Mark(1, true).Counts; got.Exchanges != 0 {
		t.Errorf("it counts %+v although it sees nothing", got)
	}
	b.Stop()
	if code := b.End(); code != 0 {
		t.Errorf("the worker ended with status %d", code)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("the server was ended with the trial: %v", err)
	}
	conn.Close()
}

func TestAddressRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	for _, c := range []struct {
		address, want string
		kind          contract.ErrorKind
	}{
		{"", "option address is empty, expected where the server listens", contract.SetupFailed},
		{"127.0.0.1", "missing port in address", contract.SetupFailed},
		{":80", "expected a host and a port", contract.SetupFailed},
		{"127.0.0.1:0", "expected a host and a port", contract.SetupFailed},
		{"127.0.0.1:70000", "port from 1 to 65535", contract.SetupFailed},
		{"127.0.0.1:http", "port from 1 to 65535", contract.SetupFailed},
		{free, "nothing listens there; start the server first", contract.Peer},
	} {
		b := workertest.Start(t, foreign.Address{})
		b.Send(contract.Message{Setup: new(addressSetup(c.address))})
		got := b.Expect("error").Error
		if got.Kind != c.kind || !got.Fatal || !strings.Contains(got.Text, c.want) {
			t.Errorf("address %q: %+v, want a fatal %s that says %q", c.address, got, c.kind, c.want)
		}
	}
}

// A server over UDP is looked for over UDP: the kernel says when there is none.
func TestAnAddressOverUDP(t *testing.T) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := socket.LocalAddr().String()
	setup := addressSetup(address)
	setup.Options["wire"] = "h3"
	b := workertest.Start(t, foreign.Address{})
	if ready := b.Setup(setup); !ready.Elsewhere || len(ready.Addresses) != 1 || ready.Addresses[0] != address {
		t.Errorf("ready is %+v, want address %s", ready, address)
	}
	socket.Close()
	b = workertest.Start(t, foreign.Address{})
	b.Send(contract.Message{Setup: &setup})
	if got := b.Expect("error").Error; got.Kind != contract.Peer || !strings.Contains(got.Text, "nothing listens there") {
		t.Errorf("%+v, want that nothing listens there", got)
	}
}
