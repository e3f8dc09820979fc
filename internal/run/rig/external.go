package rig

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// External is a rig whose servers stand already, started by somebody else: the
// workers of a trial are clients alone, and nobody meters the other end.
type External interface {
	Rig
	// Peers returns the addresses that clients connect to, at least one.
	Peers() []string
	// Authorities returns the certificates, as PEM text, that clients of an
	// encrypted trial trust; empty when none were given.
	Authorities() string
}

// ExternalRig is the rig of clients on this host that drive servers elsewhere. There is
// no connection but theirs.
type ExternalRig struct {
	name        string
	peers       []string
	authorities string
	host        Host
}

// ExternalName is what users call it, before the addresses.
const ExternalName = "at"

// maxPeers bounds the addresses of one rig.
const maxPeers = 1024

// NewExternal returns the rig for servers at host:port, one or more. Names are
// resolved once. The error is an address that cannot be read, is not known or
// to which this host has no route; whether anybody listens there, every trial
// finds out. Authorities may be empty.
func NewExternal(ctx context.Context, addresses []string, authorities string) (*ExternalRig, error) {
	if len(addresses) == 0 || len(addresses) > maxPeers {
		return nil, fmt.Errorf("%d addresses; expected from 1 to %d", len(addresses), maxPeers)
	}
	a := &ExternalRig{name: ExternalName + ":" + strings.Join(addresses, ","), authorities: authorities}
	own := ""
	for _, address := range addresses {
		peer, source, err := reach(ctx, address)
		if err != nil {
			return nil, err
		}
		a.peers = append(a.peers, peer)
		own = cmp.Or(own, source)
	}
	a.host = Host{Name: "local", Address: own, CPUs: cpuset.Of(0), Sources: []string{own}}
	if ip := net.ParseIP(own); ip.IsLoopback() && ip.To4() != nil {
		a.host.Sources = loopbackAddresses(loopbackSources)
	}
	return a, nil
}

// reach resolves host:port and returns from which of our addresses the kernel
// would connect there. Nothing is sent: a UDP socket only asks for the route.
func reach(ctx context.Context, address string) (peer, source string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return "", "", fmt.Errorf("%q is not an address; expected HOST:PORT, such as 10.0.0.1:8080", address)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil || number == 0 {
		return "", "", fmt.Errorf("%q: port %q; expected a number from 1 to 65535", address, port)
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return "", "", fmt.Errorf("find %s: %w", address, err)
	}
	peer = net.JoinHostPort(found[0].String(), fmt.Sprint(number))
	c, err := (&net.Dialer{}).DialContext(ctx, "udp", peer)
	if err != nil {
		return "", "", fmt.Errorf("reach %s: %w", address, err)
	}
	source, _, err = net.SplitHostPort(c.LocalAddr().String())
	return peer, source, errors.Join(err, c.Close())
}

// Name implements Rig.
func (a *ExternalRig) Name() string { return a.name }

// Hosts implements Rig: the host of the clients.
func (a *ExternalRig) Hosts() []Host { return []Host{a.host} }

// Peers implements External.
func (a *ExternalRig) Peers() []string { return a.peers }

// Authorities implements External.
func (a *ExternalRig) Authorities() string { return a.authorities }

// Close implements Rig: there is nothing to give back.
func (a *ExternalRig) Close() error { return nil }

// ClientSeats places the clients of a trial whose server is elsewhere. Separate
// is like shared, as no server here needs CPUs.
func ClientSeats(hosts []Host, placement string, workers int) ([]Seat, error) {
	if placement == record.Separate {
		placement = record.Shared
	}
	_, seats, err := Seats(hosts, placement, workers)
	return seats, err
}

// maxAuthorities bounds in bytes the file of certificates that clients trust.
const maxAuthorities = 1 << 20

// ExternalKind is the rig of servers that stand already, as users choose it.
var ExternalKind = Kind{Name: ExternalName, Form: "at:HOST:PORT[,HOST:PORT…][?ca=FILE]", Options: []string{"ca"}, Build: buildExternal}

// buildExternal takes the addresses of servers that somebody else started.
func buildExternal(ctx context.Context, c Choice) (Rig, error) {
	if c.Argument == "" {
		return nil, c.Errorf("it names no server; expected %s, such as at:10.0.0.1:8080", c.Form)
	}
	authorities, err := readAuthorities(ctx, c.Options["ca"])
	if err != nil {
		return nil, c.Errorf("%w", err)
	}
	r, err := NewExternal(ctx, strings.Split(c.Argument, ","), authorities)
	if err != nil {
		return nil, c.Errorf("%w", err)
	}
	return r, nil
}

// readAuthorities reads a file of PEM certificates; "" of no file.
func readAuthorities(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := input.Within(ctx, maxAuthorities)(path)
	if err != nil {
		return "", fmt.Errorf("ca: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return "", fmt.Errorf("ca: %s holds no certificate; expected PEM text, such as the certificate.pem that netdyno listen leaves in its directory", path)
	}
	return string(text), nil
}
