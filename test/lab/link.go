package lab

import (
	"fmt"
	"net"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	bridge = "br0"
	port   = "eth0" // a host's end of its cable; the hub's end has the host's name
)

// on calls f with the links of a host.
func (l *Lab) on(host int, f func(*netlink.Handle) error) error {
	handle, err := netlink.NewHandleAt(netns.NsHandle(l.spaces[host].net.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open the links of %s: %w", name(host), err)
	}
	defer handle.Close()
	return f(handle)
}

// wire lays a cable from every host to a bridge in the hub.
func (l *Lab) wire() error {
	err := l.on(hub, func(links *netlink.Handle) error {
		b := &netlink.Bridge{LinkAttrs: netlink.NewLinkAttrs()}
		b.Name = bridge
		if err := links.LinkAdd(b); err != nil {
			return fmt.Errorf("make the bridge: %w", err)
		}
		for host := 1; host <= l.Size(); host++ {
			cable := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: port,
				PeerNamespace: netlink.NsFd(l.spaces[host].net.Fd())}
			cable.Name, cable.MasterIndex = name(host), b.Index
			if err := links.LinkAdd(cable); err != nil {
				return fmt.Errorf("lay a cable to %s: %w", name(host), err)
			}
			if err := links.LinkSetUp(cable); err != nil {
				return fmt.Errorf("connect the hub's end of %s's cable: %w", name(host), err)
			}
		}
		return number(links, bridge, hub)
	})
	for host := 1; host <= l.Size() && err == nil; host++ {
		err = l.on(host, func(links *netlink.Handle) error { return number(links, port, host) })
	}
	return err
}

// number gives a host its address and brings its loopback up.
func number(links *netlink.Handle, device string, host int) error {
	for _, each := range []string{"lo", device} {
		link, err := links.LinkByName(each)
		if err != nil {
			return fmt.Errorf("find %s of %s: %w", each, name(host), err)
		}
		if each == device {
			ip := &net.IPNet{IP: address(host).AsSlice(), Mask: net.CIDRMask(24, 32)}
			if err := links.AddrAdd(link, &netlink.Addr{IPNet: ip}); err != nil {
				return fmt.Errorf("give %s the address %v: %w", name(host), ip, err)
			}
		}
		if err := links.LinkSetUp(link); err != nil {
			return fmt.Errorf("bring %s of %s up: %w", each, name(host), err)
		}
	}
	return nil
}

// route leads what goes to the pods of a host there, from every other, and gives the host
// and the hub a default route, which kubelet and API server look for.
func (l *Lab) route(host int) error {
	_, pods, err := net.ParseCIDR(fmt.Sprintf(pods, host))
	if err != nil {
		return err
	}
	for from := range l.spaces {
		if from == host {
			continue
		}
		err := l.on(from, func(links *netlink.Handle) error {
			return links.RouteReplace(&netlink.Route{Dst: pods, Gw: address(host).AsSlice()})
		})
		if err != nil {
			return fmt.Errorf("lead %s to the pods of %s: %w", name(from), name(host), err)
		}
	}
	all := &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
	for from, way := range map[int]netlink.Route{host: {Dst: all, Gw: address(hub).AsSlice()}, hub: {Dst: all}} {
		err := l.on(from, func(links *netlink.Handle) error {
			if from == hub {
				link, err := links.LinkByName(bridge)
				if err != nil {
					return err
				}
				way.LinkIndex = link.Attrs().Index
			}
			return links.RouteReplace(&way)
		})
		if err != nil {
			return fmt.Errorf("give %s a default route: %w", name(from), err)
		}
	}
	return nil
}

// Cut pulls a host's cable out of the hub: the host sees its carrier go.
func (l *Lab) Cut(t testing.TB, host int) {
	t.Helper()
	l.plug(t, host, (*netlink.Handle).LinkSetDown)
}

// Mend plugs a host's cable in again.
func (l *Lab) Mend(t testing.TB, host int) {
	t.Helper()
	l.plug(t, host, (*netlink.Handle).LinkSetUp)
}

func (l *Lab) plug(t testing.TB, host int, set func(*netlink.Handle, netlink.Link) error) {
	t.Helper()
	err := l.on(hub, func(links *netlink.Handle) error {
		link, err := links.LinkByName(l.cable(host))
		if err != nil {
			return err
		}
		return set(links, link)
	})
	if err != nil {
		t.Fatalf("plug %s's cable: %v", name(host), err)
	}
}

// cable returns the hub's end of a host's cable; the hub itself has none.
func (l *Lab) cable(host int) string {
	if host == hub {
		panic("the hub has no cable of its own; cut those of the hosts")
	}
	return l.Name(host)
}

// Drop makes the hub drop every packet to and from a host without a word, as a
// firewall would, and returns what undoes it. The carrier and ARP stay, so that
// neither end is told that the other is out of reach. Do not drop a host twice.
func (l *Lab) Drop(t testing.TB, host int) (undo func()) {
	t.Helper()
	firewall, err := nftables.New(nftables.WithNetNSFd(int(l.spaces[hub].net.Fd())))
	if err != nil {
		t.Fatalf("drop %s: %v", name(host), err)
	}
	cable := l.cable(host)
	table := firewall.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: "drop-" + cable})
	for direction, hook := range map[string]*nftables.ChainHook{
		"from": nftables.ChainHookIngress, "to": nftables.ChainHookEgress,
	} {
		chain := firewall.AddChain(&nftables.Chain{Name: direction, Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: hook, Priority: nftables.ChainPriorityFilter, Device: cable})
		firewall.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: 1},
			&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.BigEndian.PutUint16(unix.ETH_P_ARP)},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := firewall.Flush(); err != nil {
		t.Fatalf("drop %s: %v", name(host), err)
	}
	return func() {
		t.Helper()
		firewall.DelTable(table)
		if err := firewall.Flush(); err != nil {
			t.Errorf("stop dropping %s: %v", name(host), err)
		}
	}
}
