package foreign

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// patienceToListen is how long an arm's server may take to listen.
const patienceToListen = 10 * time.Second

// awaitSocket returns when the program listens on the port, without connecting:
// iperf3 and its like take any connection for a test.
func awaitSocket(p *program, port string, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		found, err := listening(port)
		if found || err != nil {
			return err
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended before it listened on port %s: %s", p.path(), port, p.last())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not listen on port %s after %v; it said: %s", p.path(), port, patience, p.output.text())
		}
	}
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
