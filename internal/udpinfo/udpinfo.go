// Package udpinfo reads what the kernel counts of UDP: of the network namespace, and
// of each socket. It knows nothing else of netdyno.
package udpinfo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Counters are those of this network namespace since it began, IPv4 and IPv6
// together. Sources: snmp_counter.rst of Linux; udp(7).
type Counters struct {
	In                  int64 // datagrams delivered to sockets
	Out                 int64 // sends; one may hand over several datagrams (UDP_SEGMENT)
	NoPorts             int64 // datagrams to ports where nobody listens
	InErrors            int64 // datagrams that came and were not delivered, for whatever reason
	ReceiveBufferErrors int64 // of them, because a socket's receive buffer was full
	SendBufferErrors    int64 // sends that failed because a buffer was full
}

// fields are the kernel's names of the counters.
func (c *Counters) fields() map[string]*int64 {
	return map[string]*int64{
		"InDatagrams": &c.In, "OutDatagrams": &c.Out, "NoPorts": &c.NoPorts, "InErrors": &c.InErrors,
		"RcvbufErrors": &c.ReceiveBufferErrors, "SndbufErrors": &c.SendBufferErrors,
	}
}

// Namespace returns the counters of this network namespace. It costs some
// 50 microseconds. Any goroutine may call it.
func Namespace() (Counters, error) {
	var c Counters
	if err := openTable("/proc/net/snmp", c.addIPv4); err != nil {
		return Counters{}, err
	}
	err := openTable("/proc/net/snmp6", c.addIPv6)
	if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
		err = nil
	}
	return c, err
}

// openTable has a file read by read.
func openTable(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// addIPv4 adds the counters of a table whose first line of "Udp:" has names and
// whose second has their values.
func (c *Counters) addIPv4(from io.Reader) error {
	var names []string
	for lines := bufio.NewScanner(from); lines.Scan(); {
		rest, found := strings.CutPrefix(lines.Text(), "Udp:")
		switch {
		case !found:
		case names == nil:
			names = strings.Fields(rest)
		default:
			values := strings.Fields(rest)
			if len(values) != len(names) {
				return fmt.Errorf("line Udp has %d values for %d names", len(values), len(names))
			}
			for i, name := range names {
				if err := c.addField(name, values[i]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return errors.New("it has no two lines Udp")
}

// addIPv6 adds the counters of a table with a name and a value on each line.
func (c *Counters) addIPv6(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) != 2 {
			continue
		}
		if name, found := strings.CutPrefix(columns[0], "Udp6"); found {
			if err := c.addField(name, columns[1]); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func (c *Counters) addField(name, text string) error {
	field := c.fields()[name]
	if field == nil {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("counter %s is %q, expected a number", name, text)
	}
	*field += n
	return nil
}
