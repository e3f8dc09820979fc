package curl

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
)

func basic(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
}

// Addresses says where connections go in place of what URLs name: resolve has
// HOST:PORT:ADDRESS, connect has HOST:PORT:HOST:PORT, of which the first pair may be
// empty for any; ADDRESS may be several, with commas between. The function takes and returns
// host:port; nothing where the flags do not say.
func Addresses(resolve, connect []string) (func(address string) []string, error) {
	type rule struct {
		host, port string
		toHosts    []string // "" for the same
		toPort     string
	}
	var rules []rule
	for _, text := range resolve {
		fields := split(strings.TrimPrefix(text, "+"))
		if len(fields) < 3 || fields[2] == "" && len(fields) == 3 {
			return nil, fmt.Errorf("--resolve %.80s: expected HOST:PORT:ADDRESS", text)
		}
		hosts := strings.Split(strings.Join(fields[2:], ":"), ",") // an address of IPv6 may stand without brackets
		rules = append(rules, rule{strings.Trim(fields[0], "*"), fields[1], hosts, ""})
	}
	for _, text := range connect {
		fields := split(text)
		if len(fields) != 4 {
			return nil, fmt.Errorf("--connect-to %.80s: expected HOST:PORT:HOST:PORT", text)
		}
		rules = append(rules, rule{fields[0], fields[1], fields[2:3], fields[3]})
	}
	return func(address string) (to []string) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil
		}
		for _, r := range rules {
			if (r.host == "" || strings.EqualFold(strings.Trim(r.host, "[]"), host)) && (r.port == "" || r.port == port) {
				for _, toHost := range r.toHosts {
					to = append(to, net.JoinHostPort(cmp.Or(strings.Trim(toHost, "[]"), host), cmp.Or(r.toPort, port)))
				}
				return to
			}
		}
		return nil
	}, nil
}

// Local is the local address that --interface names: an address, or an interface's first one
// of the family "4" or "6"; "" is for IPv4 if it has one. curl's if! and host! are understood.
func Local(text, family string) (netip.Addr, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(text, "if!"), "host!")
	own, err := net.InterfaceAddrs()
	if ip, is := netip.ParseAddr(name); is == nil {
		if err == nil && !slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && (n.IP.Equal(ip.AsSlice()) || n.IP.IsLoopback() && n.Contains(ip.AsSlice()))
		}) {
			err = fmt.Errorf("--interface %s: no interface of this host has the address", ip)
		}
		return ip.Unmap(), err
	}
	at, err := net.InterfaceByName(name)
	if err != nil {
		all, _ := net.Interfaces() // the hint is short without
		return netip.Addr{}, fmt.Errorf("--interface %s: %s", quantity.Clip(name, 40), quantity.Hint(name, each.Of(all, func(i net.Interface) string { return i.Name })))
	}
	if own, err = at.Addrs(); err != nil {
		return netip.Addr{}, fmt.Errorf("--interface %s: %w", name, err)
	}
	for _, of := range []string{"4", "6"} {
		for _, a := range own {
			prefix, err := netip.ParsePrefix(a.String())
			if err == nil && prefix.Addr().Is4() == (of == "4") && (family == "" || family == of) && !prefix.Addr().IsLinkLocalUnicast() {
				return prefix.Addr(), nil
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("--interface %s: it has no address of IPv%s", name, cmp.Or(family, "4 or IPv6"))
}

// split parts a text at its colons that are not within brackets.
func split(text string) []string {
	var fields []string
	from, within := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == ']':
			within = c == '['
		case c == ':' && !within:
			fields, from = append(fields, text[from:i]), i+1
		}
	}
	return append(fields, text[from:])
}
