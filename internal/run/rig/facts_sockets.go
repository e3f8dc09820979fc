package rig

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unsafe" // ioctl takes its structures by address

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
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

// synchronised asks the kernel's clock, which knows whether anything has set
// it within its bounds of error. Source: adjtimex(2), STA_UNSYNC.
func (sockets) synchronised() (bool, error) {
	var asked unix.Timex // no mode: only asks
	if _, err := unix.Adjtimex(&asked); err != nil {
		return false, fmt.Errorf("ask for the clock's state: %w", err)
	}
	return asked.Status&unix.STA_UNSYNC == 0, nil
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
	e.rings()
	e.channels()
	e.coalescing()
	e.pause()
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

// rings reads struct ethtool_ringparam: command, four maxima (rx, mini, jumbo,
// tx), the four set.
func (e *ethtool) rings() {
	r := make([]uint32, 9)
	r[0] = unix.ETHTOOL_GRINGPARAM
	if e.ask(r) && r[1]|r[4] != 0 {
		e.told["ring_receive"] = outOf(r[5], r[1])
		e.told["ring_send"] = outOf(r[8], r[4])
	}
}

// channels reads struct ethtool_channels: command, four maxima (rx, tx, other,
// combined), the four set. A card has either combined channels or both others.
func (e *ethtool) channels() {
	c := make([]uint32, 9)
	c[0] = unix.ETHTOOL_GCHANNELS
	if !e.ask(c) {
		return
	}
	for name, at := range map[string]int{"channels_receive": 1, "channels_send": 2, "channels": 4} {
		if c[at] != 0 {
			e.told[name] = outOf(c[at+4], c[at])
		}
	}
}

// coalescing reads struct ethtool_coalesce: after the command the µs and
// frames that received packets wait for an interrupt; the adaptive switch of
// receiving is its word number 10.
func (e *ethtool) coalescing() {
	c := make([]uint32, 23)
	c[0] = unix.ETHTOOL_GCOALESCE
	if e.ask(c) {
		e.told["coalesce_us"] = strconv.FormatUint(uint64(c[1]), 10)
		e.told["coalesce_frames"] = strconv.FormatUint(uint64(c[2]), 10)
		e.told["coalesce_adaptive"] = onOff(c[10] != 0)
	}
}

// pause reads struct ethtool_pauseparam: command, autonegotiation, rx, tx.
func (e *ethtool) pause() {
	if p := []uint32{unix.ETHTOOL_GPAUSEPARAM, 0, 0, 0}; e.ask(p) {
		e.told["pause_receive"], e.told["pause_send"] = onOff(p[2] != 0), onOff(p[3] != 0)
	}
}

// outOf writes what is set and what could be, "1024 of 8192".
func outOf(set, most uint32) string { return fmt.Sprintf("%d of %d", set, most) }

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
