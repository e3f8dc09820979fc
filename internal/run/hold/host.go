package hold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"netdyno/internal/run/setting"
)

// Here is the host on which a holder runs: where its settings and its files are.
type Here struct {
	Address string // of the interface whose MTU is meant
	Sysctl  string // "/proc/sys"
	Left    string // directory of the files of what is to be put back: "/run/netdyno"
	Space   string // identity of the network namespace: "net:[4026531840]"
}

// Host is this one, in the network namespace of this process.
func Host(address string) (Here, error) {
	space, err := os.Readlink(ownSpace)
	if err != nil {
		return Here{}, fmt.Errorf("hold: tell the network namespace: %w", err)
	}
	return Here{Address: address, Sysctl: "/proc/sys", Left: "/run/netdyno", Space: space}, nil
}

const ownSpace = "/proc/self/ns/net"

// Hold sets each KEY=VALUE that is asked, and reads each KEY without a value. It prints
// the former values as one line of JSON, waits until in or ctx ends, and puts the former
// values back. When one setting cannot be made, the settings before it are put back and
// the error names the one that failed. Before anything else Hold puts back what a killed
// holder had left.
func (h Here) Hold(ctx context.Context, asked []string, in io.Reader, out io.Writer) (err error) {
	before, set, err := h.read(asked)
	if err != nil {
		return err
	}
	if len(set) > 0 {
		if _, err := h.PutBack(); err != nil {
			return err
		}
		if before, set, err = h.read(asked); err != nil {
			return err
		}
		old := maps.Clone(before)
		maps.DeleteFunc(old, func(key, _ string) bool { _, is := set[key]; return !is })
		kept, err := h.keep(old)
		if err != nil {
			return err
		}
		defer func() {
			back := h.setAll(old)
			if back == nil {
				back = kept.forget()
			}
			err = errors.Join(err, back)
		}()
		if err := h.setAll(set); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(out).Encode(before); err != nil {
		return fmt.Errorf("hold: say what stood there: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in) // its end is the message, however it comes
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}

// read takes the arguments apart and reads what stands there now.
func (h Here) read(asked []string) (before, set map[string]string, err error) {
	before, set = map[string]string{}, map[string]string{}
	for _, word := range asked {
		key, value, sets := strings.Cut(word, "=")
		if err := checkKey(key, !sets); err != nil {
			return nil, nil, err
		}
		if before[key], err = h.get(key); err != nil {
			return nil, nil, err
		}
		if sets {
			set[key] = value
		}
	}
	return before, set, nil
}

func (h Here) get(key string) (string, error) {
	if key == setting.MTU || key == setting.Interface {
		link, err := h.link()
		if err != nil {
			return "", err
		}
		if key == setting.Interface {
			return link.Attrs().Name, nil
		}
		return strconv.Itoa(link.Attrs().MTU), nil
	}
	text, err := os.ReadFile(file(h.Sysctl, key))
	if err != nil {
		return "", fmt.Errorf("hold: read %s: %w", key, err)
	}
	return strings.Join(strings.Fields(string(text)), " "), nil
}

// setAll sets settings in the order of their names, all that it can.
func (h Here) setAll(settings map[string]string) error {
	var failed []error
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if err := h.set(key, settings[key]); err != nil {
			failed = append(failed, fmt.Errorf("hold: set %s=%s: %w", key, settings[key], err))
		}
	}
	return errors.Join(failed...)
}

func (h Here) set(key, value string) error {
	if key != setting.MTU {
		return os.WriteFile(file(h.Sysctl, key), []byte(value), 0)
	}
	mtu, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("found %q; expected a number of bytes", value)
	}
	link, err := h.link()
	if err != nil {
		return err
	}
	return netlink.LinkSetMTU(link, mtu)
}

// link is the interface that has the address.
func (h Here) link() (netlink.Link, error) {
	want := net.ParseIP(h.Address)
	all, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, link := range all {
		addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			return nil, fmt.Errorf("list the addresses of %s: %w", link.Attrs().Name, err)
		}
		if slices.ContainsFunc(addresses, func(a netlink.Addr) bool { return a.IP.Equal(want) }) {
			return link, nil
		}
	}
	return nil, fmt.Errorf("no interface has the address %s", h.Address)
}
