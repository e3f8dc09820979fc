package target

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/spoken"
	"netdyno/internal/run/study"
)

// mostAddresses bounds the addresses of a name, and reaching the time for a connection to one.
const (
	mostAddresses = 256
	reaching      = 2 * time.Second
)

// reach finds the addresses to which connections go in turn: all of the name's, of the family
// of the first that takes a connection, that take one. It leaves them in to where the name does
// not say the same, and says in missed which refuse connections.
func (t *Target) reach(ctx context.Context, u *url.URL) (missed []string, err error) {
	all, err := t.resolved(ctx, address(u))
	if err != nil || len(all) < 2 && t.Family == "" {
		return nil, err
	}
	taken := make([]bool, len(all))
	var dialling sync.WaitGroup
	for i, at := range all {
		dialling.Go(func() {
			taken[i] = t.takes(ctx, at)
		})
	}
	dialling.Wait()
	first := slices.Index(taken, true)
	if first < 0 {
		return nil, nil // who asks says why
	}
	for i, at := range all {
		switch {
		case at.Addr().Is4() != all[first].Addr().Is4():
		case !taken[i]:
			missed = append(missed, at.String())
		case !t.First || i == first:
			t.to = append(t.to, at.String())
		}
	}
	if len(t.to) == 1 && t.Family == "" && !t.First {
		t.to = nil // whoever connects to the name finds it
	}
	return missed, nil
}

// takes tells whether a server at an address takes a connection.
func (t Target) takes(ctx context.Context, at netip.AddrPort) bool {
	if t.HTTP3 {
		return spoken.QUIC(ctx, at.String())
	}
	dialer := net.Dialer{Timeout: min(reaching, t.limit()), LocalAddr: t.local(at.Addr())}
	conn, err := dialer.DialContext(ctx, "tcp", at.String())
	return err == nil && conn.Close() == nil
}

// resolved are the addresses of host:port, or of what stands in its place, in the resolver's order.
func (t *Target) resolved(ctx context.Context, of string) (all []netip.AddrPort, err error) {
	for _, to := range t.places(of) {
		host, port, err := net.SplitHostPort(to)
		if err != nil {
			return nil, err
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%s has no port from 1 to 65535", quantity.Clip(to, 80))
		}
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		own := slices.DeleteFunc(slices.Clone(ips), func(ip netip.Addr) bool {
			return t.Family != "" && ip.Unmap().Is4() != (t.Family == "4")
		})
		if len(own) == 0 {
			return nil, fmt.Errorf("%s has no address of IPv%s; it has %s", host, t.Family, strings.Join(each.Of(ips, func(ip netip.Addr) string { return ip.Unmap().String() }), ", "))
		}
		for _, ip := range own {
			if at := netip.AddrPortFrom(ip.Unmap(), uint16(number)); !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	if len(all) > mostAddresses {
		return nil, fmt.Errorf("%s has %d addresses; expected at most %d", of, len(all), mostAddresses)
	}
	return all, nil
}

// places are where connections to host:port go.
func (t Target) places(of string) []string {
	if t.Dial != nil {
		if to := t.Dial(of); len(to) > 0 {
			return to
		}
	}
	return []string{of}
}

// local is the address to connect from to one of that family; nil for the system's choice.
func (t Target) local(to netip.Addr) net.Addr {
	if !t.Source.IsValid() || t.Source.Is4() != to.Is4() {
		return nil
	}
	if t.HTTP3 {
		return &net.UDPAddr{IP: t.Source.AsSlice(), Zone: t.Source.Zone()}
	}
	return &net.TCPAddr{IP: t.Source.AsSlice(), Zone: t.Source.Zone()}
}

// dialer connects to an address as a client of a trial does.
func (t Target) dialer(to string) net.Dialer {
	d := net.Dialer{Timeout: t.ConnectLimit}
	if at, err := netip.ParseAddrPort(to); err == nil {
		d.LocalAddr = t.local(at.Addr())
	} else if t.Source.IsValid() && t.Socket == "" {
		d.LocalAddr = t.local(t.Source)
	}
	return d
}

// scheme asks a server of a URL's scheme.
type scheme func(context.Context, Target, *url.URL) (Found, error)

// askAll asks the server, at every address that its connections will take.
func (t Target) askAll(ctx context.Context, u *url.URL, ask scheme) (Found, error) {
	var missed []string
	if t.Proxy == nil && t.Socket == "" {
		var err error
		if missed, err = t.reach(ctx, u); err != nil {
			return Found{}, err
		}
	}
	first := t
	if len(t.to) > 0 {
		first = t.pinned(u, t.to[0])
	}
	f, err := ask(ctx, first, u)
	if err != nil {
		return f, err
	}
	if t.Source.IsValid() {
		f.Levels[study.ClientSource] = t.Source.String()
	}
	if len(t.to) == 0 || f.URL != nil && address(f.URL) != address(u) { // redirections led elsewhere
		return f, nil
	}
	return f, t.askEach(ctx, u, ask, missed, &f)
}

// pinned is the target at one address of the URL's host.
func (t Target) pinned(u *url.URL, at string) Target {
	whole := t.places
	t.Dial = func(of string) []string {
		if of == address(u) {
			return []string{at}
		}
		return whole(of)
	}
	return t
}

// askEach asks the server at every address, of which f is what the first answered, and
// completes f. An address that answers otherwise is refused.
func (t Target) askEach(ctx context.Context, u *url.URL, ask scheme, missed []string, f *Found) error {
	for i, at := range t.to {
		other := *f
		if i > 0 {
			one := t.pinned(u, at)
			var err error
			if other, err = ask(ctx, one, u); err != nil {
				return fmt.Errorf("%s, one of %d addresses of %s: %w; --address first asks the first alone", at, len(t.to), u.Hostname(), one.explain(ctx, u, err))
			}
		}
		for _, factor := range []string{"opt.server.wire", "opt.client.status"} {
			if was, is := f.Levels[factor], other.Levels[factor]; was != is {
				return fmt.Errorf("%s, one of %d addresses of %s, answers unlike the first (%s, not %s); --address first asks the first alone", at, len(t.to), u.Hostname(), other.Words, f.Words)
			}
		}
		if other.Levels["fresh"] != "" {
			f.Levels["fresh"] = other.Levels["fresh"]
		}
		parsed, err := netip.ParseAddrPort(at)
		if err != nil {
			return err
		}
		f.Addresses = append(f.Addresses, parsed)
	}
	f.Levels["opt.server.address"] = strings.Join(t.to, study.Joined)
	if f.Spread = fmt.Sprintf("%d addresses of %s, in turn by connection: %s", len(t.to), u.Hostname(), strings.Join(t.to, ", ")); len(t.to) == 1 {
		f.Spread = fmt.Sprintf("of the addresses of %s %s alone", u.Hostname(), t.to[0])
	}
	if len(missed) > 0 {
		f.Spread += "; left out, as they take no connection: " + strings.Join(missed, ", ")
	}
	return nil
}
