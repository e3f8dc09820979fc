package meter

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
	"netdyno/internal/tcpinfo"
)

// attached is a server that its worker only stands for: somebody else started it on
// this host. One goroutine uses it.
type attached struct {
	at      netip.AddrPort
	server  contract.Attached
	account *usage.Others // nil where server.Why says why
	opened  bool          // the window has
}

// attach finds the processes of a server that runs already; nil for one that is not
// on this host.
func attach(addresses []string) *attached {
	if len(addresses) == 0 {
		return nil
	}
	at, err := netip.ParseAddrPort(addresses[0])
	if err != nil || !ofThisHost(at.Addr()) {
		return nil
	}
	a := &attached{at: at}
	if a.server, err = Attachable(at); err == nil {
		a.account, err = usage.NewOthers(a.server.PIDs)
	}
	if err != nil {
		a.server = contract.Attached{Why: err.Error()}
	}
	return a
}

func ofThisHost(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == ip.Unmap().WithZone("")
	})
}

// read puts the server's account in the place of the worker's own.
func (a *attached) read(own *contract.Meter) *contract.Meter {
	if a.account != nil {
		m, err := a.account.Read()
		if err == nil {
			m.Attached = new(a.server)
			m.Attached.Lost = a.account.Lost()
			return &m
		}
		a.server, a.account = contract.Attached{Why: err.Error()}, nil
	}
	own.Attached = new(a.server)
	return own
}

// lookAgain looks, after a reading, for processes that hold the socket now and did
// not before. Before the window they join the account; in it their CPU time up to
// the next reading is lost.
func (a *attached) lookAgain(reading *contract.Meter, opens bool) {
	if a.account == nil || opens {
		a.opened = a.opened || opens
		return // looking takes long beside a running load
	}
	now, err := Attachable(a.at)
	if err != nil {
		return // the next reading tells whether any is left
	}
	for _, pid := range now.PIDs {
		if a.account.Add(pid) && a.opened {
			reading.Attached.Lost++
		}
	}
}

// forwarders pass on what comes to another server, whose cost they do not show.
var forwarders = []string{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "gvproxy", "kubectl", "ssh", "sshd"}

// Attachable returns the processes of this host that a meter can read as the server
// at an address: those that hold the socket which listens there. The error says in
// a clause why there are none.
func Attachable(at netip.AddrPort) (contract.Attached, error) {
	var found contract.Attached
	listeners, err := tcpinfo.Listeners(at)
	if err != nil {
		return found, err
	}
	if len(listeners) == 0 {
		return found, fmt.Errorf("no process listens on %s in this network namespace, as when a container does", at)
	}
	// A socket of another user's may have been opened by a process that is not shown.
	for _, l := range listeners {
		if l.UID != os.Geteuid() && !tcpinfo.SeesOthers() {
			return found, fmt.Errorf("what listens on %s belongs to user %s; run netdyno as that user or as root", at, userName(l.UID))
		}
	}
	pids, err := tcpinfo.Owners(listeners)
	if err != nil {
		return found, err
	}
	held := ""
	for _, pid := range pids {
		switch name := executable(pid); {
		case name == "systemd": // it passes sockets on to those that serve
			held = "systemd holds its socket, and no process of the server does"
		case slices.Contains(forwarders, name):
			return found, fmt.Errorf("%s (process %d) passes on what comes to %s, and the server is elsewhere", name, pid, at)
		case len(found.PIDs) < contract.MaxAttached:
			found.PIDs = append(found.PIDs, pid)
			found.Names = append(found.Names, name)
		default:
			return found, fmt.Errorf("more than %d processes hold its socket", contract.MaxAttached)
		}
	}
	slices.Sort(found.Names)
	found.Names = slices.Compact(found.Names)
	switch {
	case len(found.PIDs) > 0:
		return found, nil
	case held != "":
		return found, errors.New(held)
	}
	return found, fmt.Errorf("the process that listens on %s is not to be seen from here, as one in a container is not", at)
}

// executable names what a process executes, or how it calls itself where that is
// not shown.
func executable(pid int) string {
	if path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
		return strings.TrimSuffix(filepath.Base(path), " (deleted)")
	}
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil {
		return strings.TrimSpace(string(text))
	}
	return "process " + strconv.Itoa(pid)
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}
