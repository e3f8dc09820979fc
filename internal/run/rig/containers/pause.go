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

// Pause is the first process of a container, which lives as long as in does. It says its
// addresses, waits for those that nobody else waits for, and kills everything else in the
// container for each line that comes in. It refuses to be any other process.
func Pause(ctx context.Context, in io.Reader, out io.Writer) error {
	if os.Getpid() != 1 {
		return errors.New("pause: only the first process of a container may: for each line of its stdin it kills all others")
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	addresses, err := ownAddresses()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(first{addresses}); err != nil {
		return err
	}
	lines := make(chan struct{})
	go func() {
		defer close(lines)
		for from := bufio.NewScanner(in); from.Scan(); {
			lines <- struct{}{}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			reap()
		case _, more := <-lines:
			if !more {
				return nil // and the kernel kills what is left
			}
			if err := sweep(); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(out, swept); err != nil {
				return err
			}
		}
	}
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
