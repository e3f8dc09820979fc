package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// peer is a server program of somebody else's, on the server's CPU.
type peer struct {
	command *exec.Cmd
	said    *bytes.Buffer
	port    string
}

// serve starts a peer's server on a free port and waits until it listens.
func (b *bed) serve(ctx context.Context, argv func(port string) []string) (*peer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &peer{said: &bytes.Buffer{}, port: port}
	p.command = exec.CommandContext(ctx, "taskset", append([]string{"-c", serverCPU}, argv(port)...)...)
	p.command.Dir = b.temp
	p.command.Stdout, p.command.Stderr = p.said, p.said
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	if err := awaitPort(ctx, "tcp", port); err != nil {
		p.end()
		return nil, fmt.Errorf("%w; it said: %s", err, p.said)
	}
	return p, nil
}

// end ends the peer and waits for it; a second call does nothing.
func (p *peer) end() {
	if p.command.ProcessState != nil {
		return
	}
	_ = p.command.Process.Signal(os.Interrupt) // one with children of its own ends them
	const timeout = 2 * time.Second
	kill := time.AfterFunc(timeout, func() { _ = p.command.Process.Kill() })
	_ = p.command.Wait() // it was told to end, however it calls that
	kill.Stop()
}

// drive runs a peer's client on the clients' CPU to its end. The client's
// output and CPU time are returned.
func drive(ctx context.Context, argv ...string) ([]byte, time.Duration, error) {
	c := exec.CommandContext(ctx, "taskset", append([]string{"-c", clientCPU}, argv...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w; it said: %s%s", argv[0], err, out, said.Bytes())
	}
	return out, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// wholeSeconds is the window for programs that count in seconds.
func (b *bed) wholeSeconds() string {
	return strconv.Itoa(max(1, int(math.Ceil(b.window.Seconds()))))
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// awaitPort waits until a socket of tcp or udp listens on the port. It connects to none:
// iperf3 takes a connection for a test, and is busy with it for a while.
func awaitPort(ctx context.Context, network, port string) error {
	for deadline := time.Now().Add(20 * time.Second); ; {
		listens, err := listening(network, port)
		if listens || err != nil {
			return err
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("the peer does not listen on %s port %s", network, port)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waits is the state of sockets that wait for clients, in the kernel's tables (proc_net_tcp).
var waits = map[string]string{"tcp": "0A", "udp": "07"}

// listening returns whether a socket of this host listens on the port.
func listening(network, port string) (bool, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return false, err
	}
	for _, table := range []string{"/proc/net/" + network, "/proc/net/" + network + "6"} {
		text, err := os.ReadFile(table)
		if errors.Is(err, os.ErrNotExist) {
			continue // no IPv6 here
		}
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 3 && f[3] == waits[network] && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) {
				return true, nil
			}
		}
	}
	return false, nil
}
