package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"

	"netdyno/internal/contract"
)

// What every conversation moves: small messages over few connections.
const (
	messageBytes = 64
	connections  = 4
)

const (
	loopbackHost = "127.0.0.1"
	loopback     = loopbackHost + ":0"
)

// complete fills in what every setup of a check has.
func (s *subject) complete(setup contract.Setup) contract.Setup {
	setup.Trial, setup.Seed, setup.TLS = "check", 1, s.tls
	if x := setup.Exchange; x.UpBytes == 0 && x.DownBytes == 0 && x.Stream == "" {
		setup.Exchange = contract.Exchange{UpBytes: messageBytes, DownBytes: messageBytes}
	}
	if setup.Role == contract.Server && setup.Listen == "" {
		setup.Listen = loopback
	}
	if setup.Role != contract.Server {
		if setup.Load.Connections == 0 {
			setup.Load.Connections = connections
		}
		setup.Load.DrainNs = drain.Nanoseconds()
	}
	return setup
}

func (s *subject) setupLine(setup contract.Setup) (string, error) {
	setup = s.complete(setup)
	line, err := json.Marshal(contract.Message{Setup: &setup})
	if err != nil {
		return "", fmt.Errorf("encode setup: %w", err)
	}
	return string(line), nil
}

// configurable skips a transport that does nothing without options which only
// a study can give.
func (s *subject) configurable() error {
	for _, o := range s.transport.Options {
		if slices.Equal(o.Roles, []contract.Role{contract.Client}) {
			continue // a client can do without; a server of somebody else's must be named
		}
		if o.Type == contract.TypeText && o.Default == "" {
			return skipError{fmt.Sprintf("transport %s needs a value for its option %s", s.transport.Name, o.Name)}
		}
	}
	return nil
}

// ready launches a worker and sets it up.
func (s *subject) ready(setup contract.Setup) (*session, *contract.Ready, error) {
	if err := s.configurable(); err != nil {
		return nil, nil, err
	}
	w, err := s.idle()
	if err != nil {
		return nil, nil, err
	}
	setup.Transport = s.transport.Name
	setup = s.complete(setup)
	m, err := w.ask(contract.Message{Setup: &setup}, "ready", setupTakes)
	var other unexpected
	if errors.As(err, &other) && other.got.Error != nil && other.got.Error.Kind == contract.Unsupported {
		return nil, nil, skipError{"unsupported: " + other.got.Error.Text}
	}
	if err != nil {
		return nil, nil, err
	}
	return w, m.Ready, nil
}

// server launches a server that is ready, and returns its addresses.
func (s *subject) server(setup contract.Setup) (*session, []string, error) {
	if !s.has(contract.Server) {
		return nil, nil, skipError{"the transport has no role server"}
	}
	setup.Role = contract.Server
	w, r, err := s.ready(setup)
	if err != nil {
		return nil, nil, err
	}
	if want := max(1, setup.Listeners); len(r.Addresses) != want {
		return nil, nil, fmt.Errorf("after a setup with listeners %d ready lists %d addresses", want, len(r.Addresses))
	}
	for i, address := range r.Addresses {
		host, port, err := net.SplitHostPort(address)
		if err != nil || port == "0" || port == "" || slices.Contains(r.Addresses[:i], address) {
			return nil, nil, fmt.Errorf("ready lists the addresses %q, expected host:port with a port each that was bound", r.Addresses)
		}
		if bound, _, _ := net.SplitHostPort(s.complete(setup).Listen); host != bound && !r.Elsewhere {
			return nil, nil, fmt.Errorf("ready lists the address %s, expected one of %s, the host that it was to bind", address, bound)
		}
	}
	return w, r.Addresses, nil
}

// alone launches the end that can be ready without another process.
func (s *subject) alone() (*session, error) {
	if s.has(contract.Pair) {
		w, _, err := s.ready(contract.Setup{Role: contract.Pair})
		return w, err
	}
	w, _, err := s.server(contract.Setup{})
	return w, err
}

// ends are both ends of a conversation; a pair has no server of its own.
type ends struct {
	server *session
	client *session
}

// connect launches the ends of the transport with a load, both ready.
func (s *subject) connect(load contract.Load) (*ends, error) {
	return s.connectOver(contract.Setup{Load: load})
}

// run launches the ends of the transport and begins a load.
func (s *subject) run(load contract.Load) (*ends, error) {
	e, err := s.connect(load)
	if err != nil {
		return nil, err
	}
	return e, e.start()
}

// connectOver is connect with an exchange and a number of listeners, too.
func (s *subject) connectOver(setup contract.Setup) (*ends, error) {
	if err := s.configurable(); err != nil {
		return nil, err
	}
	e := &ends{}
	setup.Role = contract.Pair
	switch {
	case s.has(contract.Server) && s.has(contract.Client):
		server, addresses, err := s.server(contract.Setup{Exchange: setup.Exchange, Listeners: setup.Listeners})
		if err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		e.server = server
		setup.Role, setup.Peers, setup.Listeners = contract.Client, addresses, 0
	case !s.has(contract.Pair):
		return nil, skipError{fmt.Sprintf("the worker plays only %v of %s; pair it with another worker of wire %s",
			s.transport.Roles, s.transport.Name, s.transport.Wire)}
	}
	client, r, err := s.ready(setup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setup.Role, err)
	}
	if want := max(setup.Load.Connections, connections); r.Connections != want || r.Verified != want {
		return nil, fmt.Errorf("after a setup with %d connections ready says %d open and %d verified", want, r.Connections, r.Verified)
	}
	e.client = client
	return e, nil
}

// start begins the load.
func (e *ends) start() error { return e.client.send(contract.Message{Start: &contract.Start{}}) }

// stop asks the client for its result.
func (e *ends) stop() (*contract.Result, error) {
	m, err := e.client.ask(contract.Message{Stop: &contract.Stop{}}, "result", drainTakes)
	return m.Result, err
}

// finish lets both ends end, the client first.
func (e *ends) finish() error {
	if err := e.client.ends(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if e.server == nil {
		return nil
	}
	if err := e.server.ends(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}
