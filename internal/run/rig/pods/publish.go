package pods

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
)

// publishTimeout is for all nodes to hear of a service.
const publishTimeout = 30 * time.Second

// publish sets a service before each host on network service, and waits until another host
// reaches it by that.
func (r *Rig) publish(ctx context.Context, pods map[string]pod) error {
	for i := range r.hosts {
		h := &r.hosts[i]
		if len(h.Ports) == 0 {
			continue
		}
		if err := r.create(ctx, []object{r.service(pods[r.pods[i]])}); err != nil {
			return err
		}
		address, err := r.ask(ctx, nil, "get", "service", r.pods[i], "--output=jsonpath={.spec.clusterIP}")
		if err != nil {
			return err
		}
		h.Front = string(address)
		if err := r.prove(ctx, *h, r.next(i)); err != nil {
			return fmt.Errorf("reach %s by its service: %w; is kube-proxy, or what stands for it, running on every node?", h.Name, err)
		}
	}
	return nil
}

// next is the host after one, among those of its network.
func (r *Rig) next(i int) rig.Host {
	first := i - i%r.options.Hosts
	return r.hosts[first+(i+1-first)%r.options.Hosts]
}

// prove has a host greeted by another through the service, on its first port.
func (r *Rig) prove(ctx context.Context, server, client rig.Host) error {
	ctx, cancel := context.WithTimeoutCause(ctx, publishTimeout, fmt.Errorf("not within %v", publishTimeout))
	defer cancel()
	port := strconv.Itoa(server.Ports[0])
	line := server.Command(r.self, "internal", "reach", "--serve", net.JoinHostPort(server.Address, port))
	greeter := exec.Command(line[0], line[1:]...)
	stdin, err := greeter.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := greeter.StdoutPipe()
	if err != nil {
		return err
	}
	var said rig.Tail
	greeter.Stderr = &said
	ended, err := rig.StartTied(greeter, syscall.SIGKILL)
	if err != nil {
		return err
	}
	defer func() {
		_ = stdin.Close() // which ends it
		<-ended
	}()
	if _, err := rig.FirstLine(ctx, stdout); err != nil {
		return fmt.Errorf("listen there: %w %s", err, said.String())
	}
	_, err = client.Ask(ctx, nil, r.self, "internal", "reach", net.JoinHostPort(server.Front, port))
	return err
}

// greeting is what Greet says to each connection.
const greeting = "netdyno"

// Greet listens at an address, says so in a line, and greets each connection until in ends.
func Greet(ctx context.Context, address string, in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // its end, or an error, is the end
		_ = l.Close()
	}()
	if _, err := fmt.Fprintln(out, "listening"); err != nil {
		return errors.Join(err, l.Close())
	}
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(c, greeting) // who left is asked again by nobody
		_ = c.Close()
	}
}

// Reach connects to an address until it is greeted.
func Reach(ctx context.Context, address string) error {
	const wait, timeout = 50 * time.Millisecond, time.Second
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	for {
		err := greeted(ctx, address, timeout)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func greeted(ctx context.Context, address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(timeout)) // a socket takes one
	line, err := bufio.NewReaderSize(c, 64).ReadSlice('\n')
	if err == nil && string(line) != greeting+"\n" {
		err = fmt.Errorf("%s says %.40q", address, line)
	}
	return err
}
