package workertest

import (
	"cmp"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker"
)

// Server starts a server of a transport on loopback, with no worker around it,
// until the test ends. Options are completed as a worker completes them.
func Server(t testing.TB, of load.Transport, setup contract.Setup) load.Server {
	t.Helper()
	setup.Role, setup.Listen = contract.Server, "127.0.0.1:0"
	s, err := of.Server(Complete(t, of, setup))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // nothing is left to lose
	return s
}

// Client does the same for a client of the server at address: one connection,
// unless setup asks for more.
func Client(t testing.TB, of load.Transport, setup contract.Setup, address string) load.Client {
	t.Helper()
	c, err := of.Client(ClientSetup(t, of, setup, address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // nothing is left to lose
	return c
}

// ClientSetup returns what Client gives to the transport.
func ClientSetup(t testing.TB, of load.Transport, setup contract.Setup, address string) contract.Setup {
	t.Helper()
	setup.Role, setup.Peers, setup.Load.Connections = contract.Client, []string{address}, cmp.Or(setup.Load.Connections, 1)
	return Complete(t, of, setup)
}

// Open opens the connections of a client that no load is running on, until the
// test ends. It takes a wire.Opener.
func Open(t testing.TB, c interface {
	Open() error
	Close()
},
) {
	t.Helper()
	t.Cleanup(c.Close)
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
}

// Complete returns setup with its options as a worker gives them to a transport:
// checked, typed, and with the defaults filled in.
func Complete(t testing.TB, of load.Transport, setup contract.Setup) contract.Setup {
	t.Helper()
	var err error
	if setup.Options, err = worker.Complete(of.Describe(), setup.Role, setup.Options); err != nil {
		t.Fatal(err)
	}
	return setup
}

// Loaded returns the exchange that call makes, as the first slot of a client's
// load makes it: with everything that a load does around it.
func Loaded(t testing.TB, setup contract.Setup, call load.Call) load.Call {
	t.Helper()
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		t.Fatal(err)
	}
	slot := &l.Slots(0)[0]
	l.Start()
	l.Open(load.Now())
	return func() (int64, error) {
		slot.Next(load.Now())
		sent := load.Now()
		n, err := call()
		if err == nil {
			slot.Done(sent, load.Now(), n)
		}
		return n, err
	}
}
