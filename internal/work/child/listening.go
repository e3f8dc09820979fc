package child

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// ListenAddress chooses where a program shall listen: the host of listen, which is
// host:port, and the port, which 0 leaves to listen. A port 0 in listen becomes
// one that is free now. A port that is in use is an error.
func ListenAddress(listen string, port int64) (string, string, error) {
	host, given, err := net.SplitHostPort(listen)
	if err != nil {
		return "", "", fmt.Errorf("setup.listen: %w", err)
	}
	if port != 0 {
		given = strconv.FormatInt(port, 10)
	}
	// A port that already answers would let another program be measured.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, given))
	if err != nil {
		return "", "", fmt.Errorf("port %s of %s is in use by another program, which would be measured instead: %w", given, host, err)
	}
	_, given, _ = net.SplitHostPort(probe.Addr().String()) // a listener's own address splits
	return host, given, probe.Close()
}

// Free tells whether a program could listen at an address now.
func Free(address string) bool {
	probe, err := net.Listen("tcp", address)
	return err == nil && probe.Close() == nil
}

// listening tells whether a TCP socket of this network namespace listens on a
// port. The kernel lists those that do before all others. Source: proc_net_tcp.rst
// of Linux.
func listening(port string) (bool, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return false, fmt.Errorf("read the port %q: %w", port, err)
	}
	suffix := fmt.Sprintf(":%04X", number)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		found, err := tableLists(table, suffix)
		if os.IsNotExist(err) { // a kernel without IPv6
			continue
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// tableLists looks for a listening socket whose local address ends so.
func tableLists(table, suffix string) (bool, error) {
	const listen = "0A"
	file, err := os.Open(table)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) > 3 && columns[3] == listen && strings.HasSuffix(columns[1], suffix) {
			return true, nil
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("read %s: %w", table, err)
	}
	return false, nil
}
