package rig

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"unsafe" // ioctl takes its structures by address

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdyno/internal/run/meter/sampling"
)

// sockets asks the kernel over netlink and by ethtool's ioctls, which answer
// in every kernel since 2.6.32 and for the caller's network namespace. The
// generic netlink family "ethtool" tells the same since 5.6 only.
// Source: Linux kernel, include/uapi/linux/ethtool.h.
type sockets struct{}

func (sockets) links() (map[string]link, error) {
	list, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	links := make(map[string]link, len(list))
	for _, one := range list {
		a := one.Attrs()
		address := cmp.Or(a.HardwareAddr.String(), "00:00:00:00:00:00") // as /sys writes the loopback's
		links[a.Name] = link{index: a.Index, mtu: a.MTU, address: address, state: strings.ReplaceAll(a.OperState.String(), "-", "")}
	}
	return links, nil
}

func (sockets) card(name string) map[string]string {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	e := ethtool{socket: socket, told: make(map[string]string)}
	if len(name) >= len(e.name) {
		return nil
	}
	copy(e.name[:], name)
	if about, err := unix.IoctlGetEthtoolDrvinfo(socket, name); err == nil {
		e.told["driver"] = text(about.Driver[:])
		e.told["driver_version"] = text(about.Version[:])
		e.told["firmware"] = text(about.Fw_version[:])
		e.told["bus"] = text(about.Bus_info[:])
	}
	e.offloads()
	e.channels()
	return e.told
}

// ethtool asks about one interface. What the driver does not answer is absent.
type ethtool struct {
	socket int
	name   [unix.IFNAMSIZ]byte
	told   map[string]string
}

// request is struct ifreq with a pointer in it. Source: netdevice(7).
type request struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ask sends a structure of 32-bit words, the command first, and says whether it
// came back filled in.
func (e *ethtool) ask(words []uint32) bool {
	r := request{name: e.name, data: unsafe.Pointer(&words[0])}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(e.socket), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
	runtime.KeepAlive(words)
	return errno == 0
}

// offloads are those that decide how many packets the CPU handles.
func (e *ethtool) offloads() {
	for name, command := range map[string]uint32{
		"rx_checksum": unix.ETHTOOL_GRXCSUM, "tx_checksum": unix.ETHTOOL_GTXCSUM, "scatter_gather": unix.ETHTOOL_GSG,
		"tso": unix.ETHTOOL_GTSO, "gso": unix.ETHTOOL_GGSO, "gro": unix.ETHTOOL_GGRO,
	} {
		if value := []uint32{command, 0}; e.ask(value) {
			e.told[name] = onOff(value[1] != 0)
		}
	}
	const largeReceive = 1 << 15 // ETH_FLAG_LRO
	if value := []uint32{unix.ETHTOOL_GFLAGS, 0}; e.ask(value) {
		e.told["lro"] = onOff(value[1]&largeReceive != 0)
	}
}

// channels reads struct ethtool_channels: command, four maxima (rx, tx, other,
// combined), the four set. It tells what is combined: "8 of 24".
func (e *ethtool) channels() {
	c := make([]uint32, 9)
	c[0] = unix.ETHTOOL_GCHANNELS
	if !e.ask(c) {
		return
	}
	if c[4] != 0 {
		e.told["channels"] = fmt.Sprintf("%d of %d", c[8], c[4])
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// text is a C string in a field of fixed size.
func text(field []byte) string {
	before, _, _ := bytes.Cut(field, []byte{0})
	return string(before)
}

func (sockets) samples(kernel bool) error { return sampling.Refusal(kernel) }
