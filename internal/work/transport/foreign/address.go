package foreign

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/unixsocket"
	"netdyno/internal/work/load"
)

// Address is transport address: a server that runs already, which somebody
// else started and will end. A meter here cannot read what that server uses,
// and ready says so (Elsewhere).
type Address struct{}

// Describe implements load.Transport. Its wire is empty: option wire declares it.
func (Address) Describe() contract.Transport {
	least := float64(time.Millisecond)
	return contract.Transport{
		Name:     "address",
		Doc:      "a server that runs already, at an address that you give",
		Roles:    []contract.Role{contract.Server},
		Delivery: contract.DeliveryChunks,
		Options: []contract.Option{
			{Name: "address", Type: contract.TypeText, Default: "", Doc: "where it listens, host:port, or several of them joined by +, to which connections go in turn; unix:PATH for a Unix socket"},
			wireOption(),
			{Name: "wait", Type: contract.TypeDuration, Unit: "ns", Default: int64(time.Second), Min: &least, Doc: "how long it may take to accept one connection"},
		},
	}
}

// wireOption declares the byte protocol of a server that cannot say it itself.
func wireOption() contract.Option {
	return contract.Option{
		Name: "wire", Type: contract.TypeText, Default: "echo",
		Doc: "byte protocol that it speaks: echo, http/1.1, h2c, grpc:netdyno.v1 or another that a client has (netdyno transports)",
	}
}

// Client implements load.Transport; the role is not declared, so it is never
// reached.
func (Address) Client(contract.Setup) (load.Client, error) { panic("address has no client") }

// Server implements load.Transport: it looks once whether somebody listens at each address. A
// name is resolved here, so that every connection of the trial goes to a server that answered.
func (Address) Server(setup contract.Setup) (load.Server, error) {
	o := load.Options(setup.Options)
	addresses := []string{o.Text("address")}
	if _, is := unixsocket.Path(addresses[0]); !is {
		addresses = strings.Split(addresses[0], "+")
	}
	if len(addresses) > mostAddresses {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option address has %d addresses, expected at most %d", len(addresses), mostAddresses))
	}
	all := make([]string, len(addresses))
	for i, address := range addresses {
		var err error
		if all[i], err = found(o, address); err != nil {
			return nil, err
		}
	}
	return elsewhere{all, setup.Options}, nil
}

// mostAddresses bounds the addresses of a server.
const mostAddresses = 1024

// found looks for the server at one of its addresses.
func found(o load.Options, address string) (string, error) {
	if err := checkAddress(address); err != nil {
		return "", load.Failure(contract.SetupFailed, err)
	}
	at, err := look(o.Text("wire"), address, time.Duration(o.Int("wait")))
	if err != nil {
		if path, is := unixsocket.Path(address); is {
			return "", load.Failure(contract.Peer, unixsocket.Explain(path, err))
		}
		hint := ""
		if errors.Is(err, syscall.ECONNREFUSED) {
			hint = ": nothing listens there; start the server first, or let transport exec start it"
		}
		return "", load.Failure(contract.Peer, fmt.Errorf("look for the server at %s: %w%s", address, err, hint))
	}
	return at, nil
}

// overUDP are the wires whose servers take datagrams.
var overUDP = []string{"h3", "quic"}

// knock is how long the kernel of a host has to say that nothing takes datagrams at a
// port of it.
const knock = 100 * time.Millisecond

// look sees whether somebody listens, and returns the address that was found. Over UDP
// silence is an answer: a server of QUIC says nothing to a datagram of one byte.
func look(wire, address string, wait time.Duration) (found string, err error) {
	network, to := unixsocket.Network(address)
	if slices.Contains(overUDP, wire) {
		network = "udp"
	}
	conn, err := net.DialTimeout(network, to, wait)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }() // a server has nothing of it
	switch network {
	case "unix":
		return address, nil
	case "tcp":
		return conn.RemoteAddr().String(), nil
	}
	found = conn.RemoteAddr().String()
	if _, err := conn.Write([]byte{0}); err != nil {
		return "", err
	}
	if err := conn.SetReadDeadline(time.Now().Add(min(wait, knock))); err != nil {
		return "", err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return "", err
	}
	return found, nil
}

func checkAddress(address string) error {
	const example = "such as 127.0.0.1:8080"
	if address == "" {
		return fmt.Errorf("option address is empty, expected where the server listens, %s", example)
	}
	if path, is := unixsocket.Path(address); is {
		_, err := unixsocket.Absolute(path)
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("option address: %w; expected host:port, %s", err, example)
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || host == "" {
		return fmt.Errorf("option address is %q, expected a host and a port from 1 to 65535, %s", address, example)
	}
	return nil
}

// elsewhere is a server whose process this worker did not start.
type elsewhere struct {
	addresses []string
	options   map[string]any
}

// Ready implements load.Server.
func (e elsewhere) Ready() contract.Ready {
	return contract.Ready{Addresses: e.addresses, Options: e.options, Foreign: true, Elsewhere: true}
}

// Counts implements load.Server. Ready says that it knows nothing.
func (elsewhere) Counts() contract.Counts { return contract.Counts{} }

// Close implements load.Server: the server is not ours to end.
func (elsewhere) Close() error { return nil }
