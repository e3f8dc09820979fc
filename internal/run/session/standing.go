package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/meter/serving"
	"netdyno/internal/run/pin"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/unixsocket"
)

// meetServers notes on which CPUs servers of this host run that others started, where there
// are several, and with PinServer holds them on those of the plan until Close.
func (s *Session) meetServers(ctx context.Context) error {
	if s.request.DryRun || s.request.Rig != rig.LoopbackName || !s.request.PinServer && len(s.request.Arms) < 2 {
		return nil
	}
	found := &record.Standing{Pinned: s.request.PinServer}
	err := s.pin(ctx, found)
	if err == nil {
		s.Facts.Standing = found
	} else if found.Pinned {
		return fmt.Errorf("--pin-server: %w", err)
	}
	return nil // of others it stays unknown
}

// pin completes what is known of the servers, and holds those that are to be pinned.
func (s *Session) pin(ctx context.Context, found *record.Standing) error {
	var pids []int
	asked := map[string]bool{}
	for _, k := range s.Kinds {
		address, wire := k.ServerOptions["address"], k.ServerOptions["wire"]
		at := network(wire) + address
		if asked[at] {
			continue
		}
		asked[at] = true
		server, err := processesAt(address, wire)
		if err == nil && k.Placement != record.Separate {
			err = fmt.Errorf("placement=%s gives servers no CPUs of their own; expected placement=%s", k.Placement, record.Separate)
		}
		if err != nil {
			return err
		}
		seat, _, err := s.site.seat(k.Work)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(server.PIDs, func(pid int) bool { return slices.Contains(pids, pid) }) {
			found.Servers++
		}
		pids, found.Plan = append(pids, server.PIDs...), seat.CPUs
	}
	slices.Sort(pids)
	servers, err := pin.Meet(slices.Compact(pids))
	if err != nil {
		return err
	}
	found.Threads = len(servers.Had)
	found.Free = true
	for _, cpus := range servers.Had {
		others := len(cpuset.Without(cpus, found.Plan)) > 0
		found.Free = found.Free && others && len(cpuset.Without(found.Plan, cpus)) == 0
		found.Floats = found.Floats || others
	}
	if !found.Pinned {
		return nil
	}
	argv := []string{s.site.program, "pin"}
	for _, cpu := range found.Plan {
		argv = append(argv, "--cpu", strconv.Itoa(cpu))
	}
	for _, pid := range pids {
		argv = append(argv, "--pid", strconv.Itoa(pid))
	}
	const timeout = 10 * time.Second // for a busy host
	if s.guard, err = rig.Hold(ctx, timeout, 0, argv...); err == nil && s.guard.Line != pin.Held {
		err = errors.New(s.guard.Line)
	}
	return err
}

// network is that of a wire whose server has an address.
func network(wire string) string {
	if serving.Datagrams(wire) {
		return "udp"
	}
	return "tcp"
}

// processesAt are those that serve a wire at the addresses of an option address, of this host. A
// name may have several addresses, of which one answers.
func processesAt(addresses, wire string) (found contract.Attached, err error) {
	if file, is := unixsocket.Path(addresses); is {
		return meter.AttachableSocket(file)
	}
	var all []netip.AddrPort
	for _, address := range strings.Split(addresses, study.Joined) {
		conn, err := net.DialTimeout(network(wire), address, time.Second)
		if err != nil {
			return found, err
		}
		_ = conn.Close() // nothing was written
		at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err == nil && !serving.OfThisHost(at.Addr()) {
			err = fmt.Errorf("%s is another host's", address)
		}
		if err != nil {
			return found, err
		}
		all = append(all, at)
	}
	if serving.Datagrams(wire) {
		return meter.AttachableDatagrams(all[0])
	}
	return meter.Attachable(all...)
}

// release gives servers that are held the CPUs back that they had.
func (s *Session) release() error {
	if s.guard == nil {
		return nil
	}
	return errors.Join(s.guard.Release(), s.guard.Unclean())
}
