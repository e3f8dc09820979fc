package tool

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rdmaPort is a port of a device for RDMA, and the GID by which an address is
// reached there.
type rdmaPort struct {
	directory string // its files
	device    string
	port, gid string // numbers, as programs take them
	ethernet  bool
	mtuBytes  int64 // of a packet's payload
}

// portOf finds the port whose GID is an address, among the files under root: "/" on
// this host. Source: Linux kernel, Documentation/ABI/stable/sysfs-class-infiniband.
func portOf(root string, address netip.Addr) (rdmaPort, error) {
	class := filepath.Join(root, "sys/class/infiniband")
	if _, err := os.Stat(class); err != nil {
		return rdmaPort{}, errors.New("no RDMA device here: /sys/class/infiniband does not exist")
	}
	gids, _ := filepath.Glob(filepath.Join(class, "*/ports/*/gids/*")) // the pattern is well-formed
	var others []string
	best := ""
	for _, file := range gids {
		gid, err := netip.ParseAddr(fileText(file))
		if err != nil || gid.IsUnspecified() {
			continue
		}
		if gid.Unmap() != address.Unmap() {
			others = append(others, gid.Unmap().String())
			continue
		}
		// RoCE has each address twice, and version 2 can be routed.
		if kind := fileText(strings.Replace(file, "/gids/", "/gid_attrs/types/", 1)); best == "" || kind == "RoCE v2" {
			best = file
		}
	}
	if best == "" {
		const most = 8
		return rdmaPort{}, fmt.Errorf("no RDMA port here carries address %s; there are %s", address, strings.Join(others[:min(most, len(others))], ", "))
	}
	directory := filepath.Dir(filepath.Dir(best))
	p := rdmaPort{
		directory: directory, gid: filepath.Base(best), port: filepath.Base(directory),
		device:   filepath.Base(filepath.Dir(filepath.Dir(directory))),
		ethernet: fileText(filepath.Join(directory, "link_layer")) == "Ethernet",
	}
	if state := fileText(filepath.Join(directory, "state")); !strings.HasSuffix(state, "ACTIVE") {
		return p, fmt.Errorf("port %s:%s is %s, expected 4: ACTIVE", p.device, p.port, state)
	}
	p.mtuBytes = p.findMTU(root)
	return p, nil
}

// findMTU is the largest of RDMA's that fits into the interface's.
func (p rdmaPort) findMTU(root string) int64 {
	const headers, least, most = 96, 256, 4096 // as the kernel reckons for RoCE: ib_addr.h, iboe_get_mtu
	if !p.ethernet {
		return most / 2 // what every fabric carries today
	}
	name := fileText(filepath.Join(p.directory, "gid_attrs/ndevs", p.gid))
	mtu, err := strconv.ParseInt(fileText(filepath.Join(root, "sys/class/net", filepath.Base(name), "mtu")), 10, 32)
	fits := int64(least)
	for err == nil && fits < most && 2*fits <= mtu-headers {
		fits *= 2
	}
	return fits
}

// portCounts are what a port has moved since it came up.
type portCounts struct {
	sentPackets, receivedPackets int64
	sentBytes, receivedBytes     int64 // of packets with their headers; 0 of a port that counts packets alone
}

// counts reads the counters: those of a card, or those of Soft-RoCE, which counts
// packets alone. The kernel tells the latter anew every 10 ms.
func (p rdmaPort) counts() (portCounts, error) {
	number := func(name string) (int64, bool) {
		n, err := strconv.ParseInt(fileText(filepath.Join(p.directory, name)), 10, 64)
		return n, err == nil
	}
	const word = 4 // bytes: InfiniBand specification, volume 1, PortXmitData
	var c portCounts
	sent, known1 := number("counters/port_xmit_data")
	received, known2 := number("counters/port_rcv_data")
	if known1 && known2 {
		c.sentBytes, c.receivedBytes = word*sent, word*received
		c.sentPackets, known1 = number("counters/port_xmit_packets")
		c.receivedPackets, known2 = number("counters/port_rcv_packets")
	} else {
		c.sentPackets, known1 = number("hw_counters/sent_pkts")
		c.receivedPackets, known2 = number("hw_counters/rcvd_pkts")
	}
	if !known1 || !known2 {
		return c, fmt.Errorf("port %s:%s has no counters of packets: neither counters/port_xmit_packets nor hw_counters/sent_pkts can be read", p.device, p.port)
	}
	return c, nil
}

// fileText is a short file's text without blanks around it; "" when it cannot be read.
func fileText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
