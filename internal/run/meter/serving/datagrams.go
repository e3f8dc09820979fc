package serving

import (
	"fmt"
	"net/netip"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// overUDP are the wires whose servers take datagrams.
var overUDP = []any{"h3", "quic"}

// OverUDP tells whether the server that a setup stands for takes datagrams.
func OverUDP(s *contract.Setup) bool { return slices.Contains(overUDP, s.Options["wire"]) }

// Receiver returns the processes that take datagrams at an address. What address
// translation does to datagrams is not followed.
func Receiver(at netip.AddrPort) (contract.Attached, error) {
	sockets, err := tcpinfo.Receivers(at)
	if err != nil {
		return contract.Attached{}, err
	}
	if len(sockets) == 0 {
		return contract.Attached{}, fmt.Errorf("no process takes datagrams at %s in this network namespace, as when a container does", at)
	}
	f := Finder{At: at}
	wanted := map[uint32]int{}
	for _, s := range sockets {
		wanted[s.Inode] = s.UID
	}
	pids, _, err := f.hold(wanted)
	if err != nil {
		return contract.Attached{}, err
	}
	return named(pids, f.At.String())
}
