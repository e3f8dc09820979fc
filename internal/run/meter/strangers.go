package meter

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/serving"
)

// strangers finds out whether the clients of a program of the user's are answered by that
// program: its command may hand its work to a daemon, join others that share its port, or
// stand behind address translation. One goroutine uses it.
type strangers struct {
	finders []*serving.Finder
	fresh   bool               // connections last for one exchange: one of our own is followed
	found   *contract.Attached // why the tree's account is not that of who serves; nil while nothing speaks against it
}

// strangersAt looks after the program that listens at these addresses. Of datagrams, and
// of addresses of another host, nothing is followed.
func strangersAt(addresses []string, s *contract.Setup) *strangers {
	if serving.OverUDP(s) {
		return &strangers{}
	}
	var allow []netip.Addr
	for _, text := range s.Allow {
		if ip, err := netip.ParseAddr(text); err == nil {
			allow = append(allow, ip.Unmap())
		}
	}
	st, clients := &strangers{fresh: s.Load.Fresh}, serving.Clients()
	for _, text := range addresses {
		at, err := netip.ParseAddrPort(text)
		if err != nil || !serving.OfThisHost(at.Addr()) {
			return &strangers{}
		}
		st.finders = append(st.finders, &serving.Finder{At: at, Allow: allow, Clients: clients})
	}
	return st
}

// look compares who holds the server's ends of the clients' connections with the
// processes that are metered. It costs what Finder.Look does, and is not for use beside a
// running load.
func (s *strangers) look(metered []int) {
	for _, f := range s.finders {
		found, err := s.serve(f)
		switch {
		case errors.Is(err, serving.ErrNobody):
			continue
		case err != nil:
			s.found = &contract.Attached{Why: err.Error()}
			return
		}
		for _, pid := range found.PIDs {
			if !slices.Contains(metered, pid) {
				s.found = &contract.Attached{
					PIDs: found.PIDs, Names: found.Names,
					Why: fmt.Sprintf("process %d (%s) answers on %s, which the server's command has not started", pid, serving.Executable(pid), f.At),
				}
				return
			}
		}
	}
}

// serve returns who serves at an address.
func (s *strangers) serve(f *serving.Finder) (contract.Attached, error) {
	if !s.fresh {
		return f.Look()
	}
	found, err := serving.Probe(f.At)
	s.finders = nil // once
	return found, err
}

// against returns what speaks against the account of the worker's processes; nil for nothing.
func (s *strangers) against(unseen int) *contract.Attached {
	if s.found != nil || unseen == 0 {
		return s.found
	}
	return &contract.Attached{Lost: unseen}
}
