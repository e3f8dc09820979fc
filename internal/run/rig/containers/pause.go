package containers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// first is what the first process of a container says when it stands.
type first struct {
	Addresses []string `json:"addresses"` // IPv4, of interfaces that are up, but the loopback's
}

// swept answers a line: nothing but the first process is left in the container.
const swept = "swept"

// here is a line that asks for nothing: who writes it is still there.
const here = "here"

// Pause is the first process of a container, which lives as long as in does. It says its
// addresses, waits for those that nobody else waits for, and kills everything else in the
// container for each empty line that comes in. It refuses to be any other process.
//
// With a lease it says nothing before the first line, because who attached to it later would
// not hear it, and ends when no line comes for so long: of a connection that was cut the end
// may never be heard.
func Pause(ctx context.Context, in io.Reader, out io.Writer, lease time.Duration) error {
	if os.Getpid() != 1 {
		return errors.New("pause: only the first process of a container may: for each line of its stdin it kills all others")
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for from := bufio.NewScanner(in); from.Scan(); {
			lines <- from.Text()
		}
	}()
	over, spoken := make(<-chan time.Time), false
	if lease > 0 {
		over = time.After(lease)
	} else {
		if err := introduce(out); err != nil {
			return err
		}
		spoken = true
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil // and the kernel kills what is left
		case <-ended:
			reap()
		case line, more := <-lines:
			if !more {
				return nil
			}
			if lease > 0 {
				over = time.After(lease)
			}
			if err := hear(line, spoken, out); err != nil {
				return err
			}
			spoken = true
		}
	}
}

// hear does what a line asks for.
func hear(line string, spoken bool, out io.Writer) error {
	if !spoken {
		if err := introduce(out); err != nil {
			return err
		}
	}
	if line == here {
		return nil
	}
	if err := sweep(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, swept)
	return err
}

func introduce(out io.Writer) error {
	addresses, err := ownAddresses()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(first{addresses})
}

// reap waits for children that have ended.
func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// sweep kills every process of the container but the caller, its first, and waits until
// none is left.
func sweep() error {
	const timeout = 5 * time.Second
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		_ = unix.Kill(-1, unix.SIGKILL) // ESRCH: there is none
		reap()
		left, err := others()
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return nil
		case time.Since(begun) > timeout:
			return fmt.Errorf("processes %v are still there after %v", left, timeout)
		}
	}
}

func others() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var all []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			all = append(all, pid)
		}
	}
	return all, nil
}

// ownAddresses returns the container's addresses on networks.
func ownAddresses() ([]string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("read the container's addresses: %w", err)
	}
	addresses := []string{}
	for _, a := range all {
		if n, is := a.(*net.IPNet); is && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			addresses = append(addresses, n.IP.String())
		}
	}
	return addresses, nil
}
