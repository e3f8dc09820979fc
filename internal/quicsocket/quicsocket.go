// Package quicsocket has the UDP socket of a QUIC client.
package quicsocket

import "net"

// Connected is a client's UDP socket, connected to its server. quic-go names the
// receiver of each datagram, which the kernel refuses on such a socket. In return
// the kernel says when nothing listens at the other end, and only the server's
// datagrams come in.
type Connected struct{ *net.UDPConn }

// WriteMsgUDP implements quic.OOBCapablePacketConn.
func (c Connected) WriteMsgUDP(b, oob []byte, _ *net.UDPAddr) (n, oobn int, err error) {
	return c.UDPConn.WriteMsgUDP(b, oob, nil)
}

// WriteTo implements net.PacketConn.
func (c Connected) WriteTo(b []byte, _ net.Addr) (int, error) { return c.Write(b) }
