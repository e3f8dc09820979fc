// Package setting names the settings of a host that a trial may ask for, and the factors of
// a study that ask: one place for who races them (tune), who reads them from a study
// (study), and who sets them (hold).
package setting

import "strings"

// Keys of what is set for as long as a trial needs it. The sysctls are of the network, take
// effect for sockets that are opened afterwards, and are found in the doctor's advice or
// beside it.
const (
	MTU = "mtu" // in bytes, of the interface that has a host's address

	Congestion       = "net.ipv4.tcp_congestion_control"
	ReceiveBuffer    = "net.ipv4.tcp_rmem" // least, first and most, in bytes
	SendBuffer       = "net.ipv4.tcp_wmem" // the same
	MostReceiveAsked = "net.core.rmem_max" // that a program may ask for, in bytes
	MostSendAsked    = "net.core.wmem_max" // the same
	BusyPoll         = "net.core.busy_poll"
	BusyRead         = "net.core.busy_read"
)

// Keys of what can be read and not set.
const (
	Interface   = "interface"                                 // name of the one that has a host's address
	Congestions = "net.ipv4.tcp_available_congestion_control" // what Congestion can be
)

// Sysctls returns the keys of all that may be set beside the MTU.
func Sysctls() []string {
	return []string{Congestion, ReceiveBuffer, SendBuffer, MostReceiveAsked, MostSendAsked, BusyPoll, BusyRead}
}

// MTUFactor is the factor of a study that asks for an MTU; Prefix begins those that ask for
// a sysctl, whose key follows.
const (
	MTUFactor = "link.mtu"
	Prefix    = "sysctl."
)

// OfFactor returns the key of the setting that a factor asks for; false for any other factor.
func OfFactor(factor string) (key string, is bool) {
	if factor == MTUFactor {
		return MTU, true
	}
	return strings.CutPrefix(factor, Prefix)
}
