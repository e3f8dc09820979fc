package rig

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"netdyno/internal/each"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// Host is a host of a rig, or a part of one with an address of its own. It is
// a plain value: what a rig learns of a host it fills in before any trial.
type Host struct {
	Name    string            // in records and reports: "local", "node2", "node73"
	Address string            // of the data network: servers bind it, clients connect to it
	Prefix  []string          // argv that runs a command there; empty for this host
	Shell   bool              // the prefix hands its arguments to a shell there, as ssh does
	Files   map[string]string // where a file of this host lies there; one without an entry lies at the same path
	CPUs    []int             // that its workers may use; empty when unknown
	BootID  string            // identity of its kernel: hosts of one machine share CPUs
	Sources []string          // addresses that its clients may connect from, Address first
	Network string            // level of factor network; "" where the rig has one network for all trials
}

// Command returns the argv that, run on this host, runs argv at the host h. Elements of
// argv that are files of this host become their paths at h.
func (h Host) Command(argv ...string) []string {
	out := append(make([]string, 0, len(h.Prefix)+len(argv)), h.Prefix...)
	for _, word := range argv {
		if there, moved := h.Files[word]; moved {
			word = there
		}
		if h.Shell {
			word = quote(word)
		}
		out = append(out, word)
	}
	return out
}

// quote writes a word so that a POSIX shell reads exactly that word.
// Source: IEEE Std 1003.1-2017, Shell Command Language, section 2.2.2.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// SourcesFor returns n addresses that clients there may connect from.
func (h Host) SourcesFor(n int) ([]string, error) {
	if n > len(h.Sources) {
		return nil, fmt.Errorf("%d source addresses are needed on %s for so many connections, and it has %d; use fewer connections, or clients on more hosts", n, h.Name, len(h.Sources))
	}
	return h.Sources[:n:n], nil
}

// HostError is what is wrong with one host of a rig. Trials that run on others can
// go on. What several hosts suffer from is several of these, joined.
type HostError struct {
	Host string
	Err  error
}

func (e *HostError) Error() string { return e.Host + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *HostError) Unwrap() error { return e.Err }

// AtEach does something at all hosts at once, each given by its place among them. It returns
// the names of those where it succeeded, and a HostError of every other.
func AtEach(hosts []Host, do func(i int) error) (reached []string, err error) {
	failed := make([]error, len(hosts))
	var all sync.WaitGroup
	for i := range hosts {
		all.Go(func() { failed[i] = do(i) })
	}
	all.Wait()
	for i, h := range hosts {
		if failed[i] == nil {
			reached = append(reached, h.Name)
		} else {
			failed[i] = &HostError{Host: h.Name, Err: failed[i]}
		}
	}
	return reached, errors.Join(failed...)
}

// ErrorOf returns what of an error concerns a trial on these hosts: what is of no
// host alone, and what is of theirs; nil for nothing. What only some of its hosts
// suffer from loses the words around all of it.
func ErrorOf(err error, hosts ...string) error {
	if err == nil {
		return nil
	}
	if one, is := err.(*HostError); is { //nolint:errorlint // looked at layer by layer
		if slices.Contains(hosts, one.Host) {
			return err
		}
		return nil
	}
	if joined, several := err.(interface{ Unwrap() []error }); several {
		mine := each.Of(joined.Unwrap(), func(part error) error { return ErrorOf(part, hosts...) })
		return errors.Join(mine...)
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return err
	}
	mine := ErrorOf(inner, hosts...)
	if mine != nil && mine.Error() == inner.Error() {
		return err
	}
	return mine
}

// ResolveAddress gives the host its address where it has none: the first IPv4 address
// of an interface there, by ip-address(8). An address that is given must be one.
func (h *Host) ResolveAddress(ctx context.Context, onInterface string) error {
	if h.Address == "" && onInterface != "" {
		found, err := h.addressOn(ctx, onInterface)
		if err != nil {
			return err
		}
		h.Address = found
	}
	if _, err := netip.ParseAddr(h.Address); err != nil {
		return fmt.Errorf("address %q of %s is not an IP address; expected one of the data network, or the name of its interface", h.Address, h.Name)
	}
	h.Sources = []string{h.Address}
	return nil
}

func (h *Host) addressOn(ctx context.Context, name string) (string, error) {
	out, err := h.Ask(ctx, nil, "ip", "-4", "address", "show", "dev", name) // busybox's has no -json
	if err != nil {
		return "", fmt.Errorf("address on interface %s: %w", name, err)
	}
	// "inet 10.0.0.1/24 …", or of a point-to-point link "inet 10.0.0.1 peer …".
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "inet" {
			address, _, _ := strings.Cut(words[1], "/")
			return address, nil
		}
	}
	return "", fmt.Errorf("interface %s of %s has no IPv4 address", name, h.Name)
}

// Seat is the host of one worker in a trial, with the worker's share of the CPUs
// there.
type Seat struct {
	Host
	CPUs []int // of the worker, among the host's; empty leaves them to the scheduler
}

// Seats places one server and a number of clients for a placement. Where both
// meet on one machine, separate gives the server the first half of the CPUs there
// and the clients the rest, unless their hosts have CPUs of their own; shared
// pins both to all CPUs of their host; free pins nothing.
func Seats(hosts []Host, placement string, clients int) (server Seat, others []Seat, err error) {
	if len(hosts) == 0 {
		return Seat{}, nil, fmt.Errorf("the rig has no host")
	}
	at := func(i int) Host {
		if len(hosts) == 1 {
			return hosts[0]
		}
		return hosts[1+i%(len(hosts)-1)]
	}
	server = Seat{hosts[0], hosts[0].CPUs}
	for i := range clients {
		others = append(others, Seat{at(i), at(i).CPUs})
	}
	switch placement {
	case record.Separate:
		err = separate(&server, others)
	case record.Shared:
	case record.Free:
		server.CPUs = nil
		for i := range others {
			others[i].CPUs = nil
		}
	default:
		err = fmt.Errorf("placement is %q, expected separate, shared or free", placement)
	}
	return server, others, err
}

// ErrFewCPUs says that server and clients cannot have CPUs of their own where both are.
var ErrFewCPUs = errors.New("placement=separate")

// separate gives the server and the clients of one machine different CPUs.
func separate(server *Seat, clients []Seat) error {
	all := server.CPUs
	half := len(all) / 2
	for i := range clients {
		c := &clients[i]
		if !c.meets(*server) {
			continue
		}
		if len(all) < 2 {
			return fmt.Errorf("%w needs 2 CPUs, and %s allows %d; placement=shared works", ErrFewCPUs, server.Name, len(all))
		}
		server.CPUs = all[:half]
		c.CPUs = cpuset.Without(c.CPUs, all[:half])
		if len(c.CPUs) == 0 {
			return fmt.Errorf("placement=separate: all CPUs of %s (%s) belong to the server's half; give each host CPUs of its own, or use placement=shared", c.Name, cpuset.Format(all[:half]))
		}
	}
	return nil
}
