package recorded_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"netdyno/internal/run/recorded"
)

// packet is a segment of a capture, in order.
type packet struct {
	ms       int
	up       bool
	sequence uint32
	bytes    int
	flags    string
}

// capturedOf writes a capture, of Ethernet and IPv4 or of raw IPv6.
func capturedOf(t testing.TB, six bool, packets []packet) []byte {
	t.Helper()
	var out bytes.Buffer
	link := layers.LinkTypeEthernet
	if six {
		link = layers.LinkTypeRaw
	}
	w, err := pcapgo.NewNgWriter(&out, link)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		ends, ports := [][]byte{{192, 0, 2, 1}, {192, 0, 2, 2}}, []layers.TCPPort{40000, 8080}
		if six {
			ends = [][]byte{append(make([]byte, 15), 1), append(make([]byte, 15), 2)}
		}
		from, to := 0, 1
		if !p.up {
			from, to = 1, 0
		}
		tcp := &layers.TCP{SrcPort: ports[from], DstPort: ports[to], Seq: p.sequence, ACK: true}
		for _, f := range p.flags {
			tcp.SYN, tcp.FIN, tcp.RST = tcp.SYN || f == 'S', tcp.FIN || f == 'F', tcp.RST || f == 'R'
		}
		all := []gopacket.SerializableLayer{tcp, gopacket.Payload(make([]byte, p.bytes))}
		if six {
			all = append([]gopacket.SerializableLayer{&layers.IPv6{Version: 6, NextHeader: layers.IPProtocolTCP, SrcIP: ends[from], DstIP: ends[to]}}, all...)
		} else {
			all = append([]gopacket.SerializableLayer{
				&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeDot1Q},
				&layers.Dot1Q{Type: layers.EthernetTypeIPv4},
				&layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: ends[from], DstIP: ends[to]},
			}, all...)
		}
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, all...); err != nil {
			t.Fatal(err)
		}
		whole := b.Bytes()
		kept := whole[:len(whole)-p.bytes] // a capture need not keep the payload
		info := gopacket.CaptureInfo{Timestamp: time.Unix(1795856400, int64(p.ms)*1e6), CaptureLength: len(kept), Length: len(whole)}
		if err := w.WritePacket(info, kept); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// conversationOf has two requests, one of which was sent in part again, on a connection
// whose numbers turn over, and one that stays without an answer.
var conversationOf = []packet{
	{0, true, 0xfffffff0, 0, "S"}, {1, false, 1000, 0, "S"}, {2, true, 0xfffffff1, 0, ""},
	{10, true, 0xfffffff1, 100, ""}, {11, true, 0x55, 50, ""}, {12, true, 0x55, 50, ""}, // twice
	{20, false, 1001, 1400, ""}, {21, false, 2401, 600, ""},
	{110, true, 0x87, 7, ""}, {120, false, 3001, 9, ""},
	{200, true, 0x8e, 3, ""}, {300, true, 0x91, 0, "F"}, {301, false, 3010, 0, "F"},
}

func captured(t testing.TB) []byte { return capturedOf(t, false, conversationOf) }

func TestCaptures(t *testing.T) {
	const want = "0 tcp 150 2000\n100 tcp 7 9\n190 tcp 3 0\n"
	for _, six := range []bool{false, true} {
		whole := capturedOf(t, six, conversationOf)
		s, body, all, err := made(t, "pcapng", string(whole), recorded.Options{Port: 8080})
		if err != nil || shown(s, body, all) != want || len(s.LeftOut) > 0 {
			t.Errorf("six %v: %v\n%s%+v", six, err, shown(s, body, all), s)
		}
		torn, _, all, err := made(t, "pcapng", string(whole[:len(whole)-20]), recorded.Options{Port: 8080})
		if err != nil || len(all) != 3 || torn.LeftOutWords() != "1 cut off" {
			t.Errorf("a capture that is cut off: %v, %+v", err, torn)
		}
	}
	if _, _, _, err := made(t, "pcapng", string(captured(t)), recorded.Options{Port: 81}); err == nil {
		t.Error("nobody spoke to port 81")
	}
}
