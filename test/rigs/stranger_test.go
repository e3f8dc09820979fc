package rigs_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/lab"
)

// A server's port is for the trial's clients alone: a host that is none of them
// gets no answer, the trial does not suffer, and the server listens at its data
// address only.
func TestStranger(t *testing.T) {
	t.Parallel()
	b := newBed(t, 4, held)
	b.ssh = b.SSH(t)
	b.rig = "ssh:node1,node2,node3?config=" + b.ssh.Config
	before := b.census(t)
	u := b.start(t, endless...)
	for _, moment := range []string{"unconnected", "window"} {
		_, number := u.held(moment, 2)
		port := u.port(1)
		for range 3 {
			stranger(t, b.Lab, fmt.Sprintf("%s:%d", b.Address(1), port))
		}
		if conn, err := b.Dial(1, fmt.Sprintf("127.0.0.1:%d", port), 30*time.Second); err == nil {
			t.Errorf("the server's port %d answers at its loopback too (%v)", port, conn.Close())
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("connect to port %d of the server's loopback: %v, want refused", port, err)
		}
		u.release()
		if r := u.Next(u.t, number); r.Outcome != record.OK {
			t.Errorf("the trial that a stranger called in state %s is %s: %+v", moment, r.Outcome, r.Failure)
		}
	}
	u.interrupt()
	before.nothingLeft(t)
}

// stranger calls from a host that has no seat, and must be hung up on without a
// word, whatever it says.
func stranger(t *testing.T, l *lab.Lab, address string) {
	t.Helper()
	const timeout = 30 * time.Second
	conn, err := l.Dial(4, address, timeout)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) {
		return
	}
	if err != nil {
		t.Errorf("a stranger's connection: %v, want it closed at once", err)
		return
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(make([]byte, 64)) // it may be closed already
	answer := make([]byte, 1)
	if n, err := conn.Read(answer); n != 0 || isTimeout(err) {
		t.Errorf("a stranger read %d bytes, %v, want its connection closed without any", n, err)
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a stranger's connection ended with %v, want its end or a reset", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// port finds where a host's server listens, at its data address alone, in what
// the kernel tells of the network of a process there (proc_pid_net(5), tcp).
func (u *underway) port(node int) uint16 {
	u.t.Helper()
	var there lab.Process
	for _, p := range lab.Running(u.t, u.worker) {
		if u.at(p, node) {
			there = p
		}
	}
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", there.Pid))
	if err != nil {
		u.t.Fatal(err)
	}
	const listening, sshd = "0A", 22
	var found []netip.AddrPort
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listening {
			continue
		}
		if a := socketAddress(u.t, fields[1]); a.Port() != sshd {
			found = append(found, a)
		}
	}
	if len(found) != 1 || found[0].Addr().String() != u.address(node) {
		u.t.Fatalf("listening at node%d are %v, want one socket, at %s", node, found, u.address(node))
	}
	return found[0].Port()
}

// socketAddress reads "0100007F:1F90": an address in the machine's byte order,
// which is the little end first, and a port.
func socketAddress(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	address, port, _ := strings.Cut(text, ":")
	a, err := strconv.ParseUint(address, 16, 32)
	p, portErr := strconv.ParseUint(port, 16, 16)
	if err = errors.Join(err, portErr); err != nil {
		t.Fatalf("read the address %q: %v", text, err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24)}), uint16(p))
}
