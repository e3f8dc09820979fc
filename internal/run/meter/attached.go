package meter

import (
	"errors"
	"net/netip"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/serving"
	"netdyno/internal/run/meter/usage"
	"netdyno/internal/unixsocket"
)

// attached is a server that somebody else started on this host and that a worker only
// stands for. One goroutine uses it.
type attached struct {
	finder  *serving.Finder // nil where there are no connections to follow
	asks    *serving.Finder // what the server asks of others
	server  contract.Attached
	account *usage.Others // nil where server.Why says why
	opened  bool          // the window has
	told    bool          // who serves the clients is
}

// attach finds the processes of a server that runs already; nil for one that is not
// on this host.
func attach(addresses []string, s *contract.Setup) *attached {
	if len(addresses) == 0 {
		return nil
	}
	if file, is := unixsocket.Path(addresses[0]); is {
		a := &attached{told: true, asks: &serving.Finder{}} // by a connection of our own: the kernel tells who listens
		a.takeFound(serving.Socket(file))
		return a
	}
	all := make([]netip.AddrPort, len(addresses))
	for i, address := range addresses {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !serving.OfThisHost(at.Addr()) {
			return nil
		}
		all[i] = at
	}
	at := all[0]
	a := &attached{}
	if serving.OverUDP(s) {
		a.told = true // by the one who takes the datagrams: they have no connection to be followed
		a.takeFound(serving.Receiver(at))
		return a
	}
	a.finder = &serving.Finder{At: at, More: all[1:], Clients: serving.Clients()}
	a.asks = a.finder
	local := false
	for _, text := range s.Allow {
		if ip, err := netip.ParseAddr(text); err == nil {
			a.finder.Allow = append(a.finder.Allow, ip.Unmap())
			local = local || serving.OfThisHost(ip)
		}
	}
	a.told = local || len(a.finder.Allow) == 0 // by a connection of our own, which goes the clients' way
	found, err := serving.Probe(all...)
	a.finder.Begin(found.PIDs)
	a.takeFound(found, err)
	return a
}

// takeFound begins the account of the processes that were found.
func (a *attached) takeFound(found contract.Attached, err error) {
	if err == nil && (a.account == nil || !slices.Equal(found.PIDs, a.server.PIDs)) {
		a.account, err = usage.NewOthers(found.PIDs)
	}
	if a.server = found; err != nil {
		a.server, a.account = contract.Attached{Why: err.Error()}, nil
	}
}

// readAttached puts the server's account in the place of the worker's own.
func (a *attached) readAttached(own *contract.Meter) *contract.Meter {
	if a.account != nil {
		m, err := a.account.Read()
		if err == nil {
			m.Attached = new(a.server)
			m.Attached.Lost = a.account.Lost()
			return &m
		}
		a.takeFound(contract.Attached{}, err)
	}
	own.Attached = new(a.server)
	return own
}

// follow looks, before the window, at which processes the clients' connections have
// come to: those are read from now on. It reports whether there is anything else to
// be read than before.
func (a *attached) follow() bool {
	if a.finder == nil || a.opened {
		return false
	}
	found, err := a.finder.Look()
	if errors.Is(err, serving.ErrNobody) {
		return false
	}
	a.told = true
	before := a.server
	a.takeFound(found, err)
	return !slices.Equal(before.PIDs, a.server.PIDs) || before.Why != a.server.Why
}

// lookAgain looks, after a reading at a mark, for what the reading does not show: what
// the server asks of others and, when the window has closed, processes that serve the
// clients now and were not read. In the window it looks only at what takes little time
// beside a running load.
func (a *attached) lookAgain(reading *contract.Meter, opens bool) {
	closes := a.opened && !opens
	a.opened = a.opened || opens
	if a.account == nil || a.asks == nil {
		return
	}
	if closes && a.finder != nil {
		switch found, err := a.finder.Look(); {
		case errors.Is(err, serving.ErrNobody) && !a.told:
			reading.Attached.Why = err.Error()
		case errors.Is(err, serving.ErrNobody):
		case err != nil:
			reading.Attached.Why = err.Error()
		default:
			a.told = true
			for _, pid := range found.PIDs {
				if a.account.Add(pid) && !a.account.Awaits(pid) {
					reading.Attached.Lost++
				}
			}
		}
	}
	if !opens || a.asks.Quick() {
		reading.Attached.Onward = a.asks.Onward(a.account.Processes(), opens)
	}
}

// Attachable returns the processes of this host that a meter can read as the server at
// some addresses. The error says in a clause why there are none.
func Attachable(at ...netip.AddrPort) (contract.Attached, error) { return serving.Probe(at...) }

// AttachableDatagrams is Attachable for a server that takes datagrams at an address.
func AttachableDatagrams(at netip.AddrPort) (contract.Attached, error) { return serving.Receiver(at) }

// AttachableSocket is Attachable for a server behind a Unix socket.
func AttachableSocket(file string) (contract.Attached, error) { return serving.Socket(file) }
