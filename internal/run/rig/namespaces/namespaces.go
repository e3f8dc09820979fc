// Package namespaces is the rig of network namespaces of this host, each with
// a cable to one switch whose rate, delay and loss a trial may set. It needs
// root.
//
// The namespaces have no name: file descriptors of this process hold them, so
// the kernel removes them with everything in them when the process ends,
// however it ends. Nothing is to be found and cleaned later.
package namespaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
)

const (
	// MaxHosts is how many namespaces a rig may have.
	MaxHosts = 512
	// sourcesPerHost are the addresses of each: 10.77.HOST.1 to .254, from host 256 on in
	// 10.78.0.0/16 and so on.
	sourcesPerHost = 254
	usualMTU       = 1500
	// inside is the name of every host's interface.
	inside = "nd0"
)

// Options of a rig.
type Options struct {
	Hosts int // 2 to MaxHosts
	MTU   int // of the cables in bytes; 0 is 1500
}

// Rig implements rig.Rig and rig.Shaper. One goroutine at a time may use it.
type Rig struct {
	options Options
	enter   string // path of nsenter
	hub     host
	hosts   []host
}

// host is one namespace and the network's door to it.
type host struct {
	ns     netns.NsHandle
	links  *netlink.Handle
	cable  netlink.Link // its end of the cable; the hub has none
	socket netlink.Link // the switch's end, in the hub
}

// Build makes the namespaces and joins them.
func Build(o Options) (*Rig, error) {
	if o.Hosts < 2 || o.Hosts > MaxHosts {
		return nil, fmt.Errorf("rig netns: %d namespaces; expected from 2 to %d", o.Hosts, MaxHosts)
	}
	r := &Rig{options: o, hub: host{ns: netns.None()}}
	var err error
	if r.enter, err = exec.LookPath("nsenter"); err != nil {
		return nil, fmt.Errorf("rig netns: %w (package util-linux has it)", err)
	}
	if err := r.build(); err != nil {
		return nil, fmt.Errorf("rig netns: %w", errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Rig) build() error {
	var err error
	if r.hub, err = newHost(); err != nil {
		return err
	}
	bridge := &netlink.Bridge{LinkAttrs: attributes("switch", maxMTU)} // it carries whatever its hosts' cables do
	if err := r.hub.links.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add the switch: %w", err)
	}
	if err := r.hub.links.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("bring up the switch: %w", err)
	}
	for i := range r.options.Hosts {
		h, err := newHost()
		r.hosts = append(r.hosts, h)
		if err == nil {
			err = r.plug(&r.hosts[i], i, bridge)
		}
		if err != nil {
			return fmt.Errorf("host %d: %w", i+1, err)
		}
	}
	return nil
}

func attributes(name string, mtu int) netlink.LinkAttrs {
	a := netlink.NewLinkAttrs()
	a.Name, a.MTU = name, mtu
	return a
}

// newHost makes a namespace with its loopback up.
func newHost() (host, error) {
	ns, err := newNamespace()
	if err != nil {
		return host{ns: netns.None()}, err
	}
	h := host{ns: ns}
	if h.links, err = netlink.NewHandleAt(ns); err != nil {
		return h, fmt.Errorf("open netlink: %w", err)
	}
	lo, err := h.links.LinkByName("lo")
	if err == nil {
		err = h.links.LinkSetUp(lo)
	}
	if err != nil {
		return h, fmt.Errorf("bring up the loopback: %w", err)
	}
	return h, nil
}

// newNamespace makes a namespace on a thread that is thrown away when it does
// not find back to its own.
func newNamespace() (netns.NsHandle, error) {
	type made struct {
		ns  netns.NsHandle
		err error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread()
		home, err := netns.Get()
		if err != nil {
			done <- made{netns.None(), fmt.Errorf("open this process's namespace: %w", err)}
			return
		}
		defer func() { _ = home.Close() }() // nothing was written
		ns, err := netns.New()
		switch {
		case errors.Is(err, unix.EPERM):
			err = errors.New("make a namespace: operation not permitted; it needs root (CAP_SYS_ADMIN)")
		case err != nil:
			err = fmt.Errorf("make a namespace: %w", err)
		case netns.Set(home) == nil:
			runtime.UnlockOSThread()
		}
		done <- made{ns, err}
	}()
	m := <-done
	return m.ns, m.err
}

// plug lays the cable of host number i.
func (r *Rig) plug(h *host, i int, bridge netlink.Link) error {
	port := fmt.Sprintf("port%d", i+1)
	cable := &netlink.Veth{
		LinkAttrs: attributes(port, maxMTU), PeerName: inside, PeerMTU: uint32(cmp.Or(r.options.MTU, usualMTU)), PeerNamespace: netlink.NsFd(h.ns),
	}
	cable.MasterIndex = bridge.Attrs().Index
	err := r.hub.links.LinkAdd(cable)
	if err != nil {
		return fmt.Errorf("add a veth pair: %w", err)
	}
	if h.socket, err = r.hub.links.LinkByName(port); err != nil {
		return fmt.Errorf("find the switch's end of the veth pair: %w", err)
	}
	if h.cable, err = h.links.LinkByName(inside); err != nil {
		return fmt.Errorf("find the host's end of the veth pair: %w", err)
	}
	address, err := netlink.ParseAddr(address(i, 1) + network)
	if err != nil {
		return err
	}
	if err := h.links.AddrAdd(h.cable, address); err != nil {
		return fmt.Errorf("set the address %s: %w", address, err)
	}
	if err := errors.Join(r.hub.links.LinkSetUp(h.socket), h.links.LinkSetUp(h.cable)); err != nil {
		return fmt.Errorf("bring up the veth pair: %w", err)
	}
	return h.ownAll(i)
}

// ownAll makes every address of 10.77.HOST.0/24 the host's own, for clients
// with more connections than one address has ports.
func (h *host) ownAll(i int) error {
	lo, err := h.links.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback: %w", err)
	}
	own, err := netlink.ParseIPNet(address(i, 0) + "/24")
	if err != nil {
		return err
	}
	route := &netlink.Route{LinkIndex: lo.Attrs().Index, Dst: own, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST}
	if err := h.links.RouteAdd(route); err != nil {
		return fmt.Errorf("add the route to its own addresses: %w", err)
	}
	return nil
}

func address(host, last int) string {
	const perNetwork = 256
	n := host + 1
	return fmt.Sprintf("10.%d.%d.%d", 77+n/perNetwork, n%perNetwork, last)
}

// network is the prefix of all hosts' addresses, 10.72.0.0 to 10.79.255.255.
const network = "/13"

// Name implements rig.Rig.
func (r *Rig) Name() string {
	name := fmt.Sprintf("netns:%d", r.options.Hosts)
	if r.options.MTU > 0 {
		name += fmt.Sprintf("?mtu=%d", r.options.MTU)
	}
	return name
}

// Hosts implements rig.Rig.
func (r *Rig) Hosts() []rig.Host {
	hosts := make([]rig.Host, len(r.hosts))
	for i, own := range r.hosts {
		h := rig.Host{
			Name: nameOf(i), Address: address(i, 1), CPUs: cpuset.Of(0), BootID: "this host",
			Prefix: []string{r.enter, fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), int(own.ns)), "--"},
		}
		for last := 1; last <= sourcesPerHost; last++ {
			h.Sources = append(h.Sources, address(i, last))
		}
		hosts[i] = h
	}
	return hosts
}

func nameOf(host int) string { return fmt.Sprintf("node%d", host+1) }

// Close implements rig.Rig. The kernel takes down what is in a namespace once
// no process is left in it.
func (r *Rig) Close() error {
	var err error
	for _, h := range append([]host{r.hub}, r.hosts...) {
		if h.links != nil {
			h.links.Close()
		}
		if h.ns.IsOpen() {
			err = errors.Join(err, h.ns.Close())
		}
	}
	r.hub, r.hosts = host{ns: netns.None()}, nil
	return err
}

// Kind is the rig of network namespaces, as users choose it.
var Kind = rig.Kind{Name: "netns", Form: "netns[:N|:RATE][?mtu=BYTES]", Options: []string{"mtu"}, Links: true, Build: build}

// The bounds of an MTU: IPv4's least, and the most that a veth takes.
const minMTU, maxMTU = 576, 65535

// build makes one server's and one client's namespace unless the user counts.
func build(_ context.Context, c rig.Choice) (rig.Rig, error) {
	hosts, err := c.Count(2)
	if err != nil {
		return nil, err
	}
	mtu, err := c.Bytes("mtu")
	if err != nil {
		return nil, err
	}
	if mtu != 0 && (mtu < minMTU || mtu > maxMTU) {
		return nil, c.Errorf("mtu=%d; expected from %d to %d", mtu, minMTU, maxMTU)
	}
	return Build(Options{Hosts: hosts, MTU: mtu})
}
