package recorded

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// mostConnections bounds the connections that are followed at once. What comes on others
// meanwhile is counted and left out.
const mostConnections = 1 << 16

const (
	noConnection reason = "on a connection beyond the 65,536 that are followed at once"
	foreignLink  reason = "of a link that is neither Ethernet, Linux cooked, loopback nor raw IP"
)

// capture reads TCP to one port. A request is what a client sends until the server
// answers; its reply, what the server sends until the client goes on. Each byte counts
// once, however often it was sent.
type capture struct{ port int }

func openCapture(o Options) (source, error) {
	if o.Port < 1 || o.Port > 65535 {
		return nil, errors.New("--port says no port; expected that of the servers, 1 to 65535")
	}
	return capture{o.Port}, nil
}

// conversation is a connection as it was captured.
type conversation struct {
	up, down  side
	begun     int64 // ns; when the request under way was first seen
	grain     int64
	asked     int64 // bytes
	answered  int64
	completes bool // the server has begun to answer
}

// side is one direction: which byte comes next.
type side struct {
	known bool
	next  uint32
}

// fresh returns how many of a segment's bytes were not seen before.
func (d *side) fresh(sequence uint32, bytes int, begins bool) int64 {
	if begins || !d.known {
		d.known, d.next = true, sequence
		if begins {
			d.next++
		}
		if begins && bytes == 0 {
			return 0
		}
	}
	ahead := int32(sequence + uint32(bytes) - d.next)
	if ahead <= 0 {
		return 0
	}
	d.next += uint32(ahead)
	return int64(min(ahead, int32(bytes))) // what a capture missed is not known
}

func (c capture) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	packets, err := pcapgo.NewNgReader(from, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
	if err != nil {
		return fmt.Errorf("it is no pcapng capture: %w", err)
	}
	all := map[[2]netip.AddrPort]*conversation{}
	for number := 1; ; number++ {
		data, info, err := packets.ZeroCopyReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // what follows cannot be found
			if err := refuse(number, cutOff, []byte(err.Error())); err != nil {
				return err
			}
			break
		}
		link, _ := info.AncillaryData[0].(layers.LinkType)
		s, why := segmentOf(link, data)
		grain := int64(1e3)
		if of, err := packets.Interface(info.InterfaceIndex); err == nil {
			grain = max(1, int64(of.Resolution().ToDuration()))
		}
		if why == "" && info.Timestamp.IsZero() {
			why = noTime
		}
		if why == "" {
			why, err = c.enter(all, s, info.Timestamp.UnixNano(), grain, func(s seen) error { return take(number, s) })
		}
		if why != "" {
			err = refuse(number, why, nil)
		}
		if err != nil {
			return err
		}
	}
	for _, k := range all {
		if err := k.end(func(s seen) error { return take(0, s) }); err != nil {
			return err
		}
	}
	return nil
}

// enter follows a connection by one segment more.
func (c capture) enter(all map[[2]netip.AddrPort]*conversation, s segment, at, grain int64, take func(seen) error) (reason, error) {
	up := int(s.to.Port()) == c.port
	if !s.tcp || !up && int(s.from.Port()) != c.port {
		return "", nil // somebody else's
	}
	key := [2]netip.AddrPort{s.from, s.to}
	if !up {
		key[0], key[1] = key[1], key[0]
	}
	k := all[key]
	switch {
	case k != nil:
	case s.bytes == 0 && !s.begins:
		return "", nil
	case len(all) >= mostConnections && !makeRoom(all):
		return noConnection, nil
	default:
		k = &conversation{}
		all[key] = k
	}
	if up {
		if s.begins {
			k.up = side{}
		}
		if n := k.up.fresh(s.sequence, s.bytes, s.begins); n > 0 {
			if k.completes {
				if err := k.end(take); err != nil {
					return "", err
				}
			}
			if k.asked == 0 {
				k.begun, k.grain = at, grain
			}
			k.asked += n
		}
	} else if n := k.down.fresh(s.sequence, s.bytes, s.begins); n > 0 && k.asked > 0 {
		k.answered += n
		k.completes = true
	}
	if s.reset || s.ends && !up {
		delete(all, key)
		return "", k.end(take)
	}
	return "", nil
}

// makeRoom forgets connections on which no request is under way.
func makeRoom(all map[[2]netip.AddrPort]*conversation) bool {
	for key, k := range all {
		if k.asked == 0 {
			delete(all, key)
		}
	}
	return len(all) < mostConnections
}

// end gives the request under way, if there is one, and forgets it.
func (k *conversation) end(take func(seen) error) error {
	if k.asked == 0 {
		return nil
	}
	s := seen{at: k.begun, grain: k.grain, class: "tcp", up: k.asked, down: k.answered}
	k.asked, k.answered, k.completes = 0, 0, false
	return take(s)
}

// segment is a packet of TCP.
type segment struct {
	tcp      bool
	from, to netip.AddrPort
	sequence uint32
	bytes    int // of payload, as its headers say: a capture may keep less

	begins, ends, reset bool
}

// segmentOf takes a packet apart as far as TCP's header.
func segmentOf(link layers.LinkType, data []byte) (segment, reason) {
	network, why := networkOf(link, data)
	if why != "" || len(network) == 0 {
		return segment{}, why
	}
	var from, to netip.Addr
	var inside []byte
	whole := 0 // bytes of TCP by the header of IP
	switch network[0] >> 4 {
	case 4:
		head := int(network[0]&0xf) * 4
		if len(network) < 20 || head < 20 || len(network) < head {
			return segment{}, cutOff
		}
		if network[9] != protocolTCP || binary.BigEndian.Uint16(network[6:])&0x1fff != 0 {
			return segment{}, ""
		}
		from, to = netip.AddrFrom4([4]byte(network[12:16])), netip.AddrFrom4([4]byte(network[16:20]))
		inside, whole = network[head:], int(binary.BigEndian.Uint16(network[2:]))-head
	case 6:
		if len(network) < 40 {
			return segment{}, cutOff
		}
		if network[6] != protocolTCP {
			return segment{}, ""
		}
		from, to = netip.AddrFrom16([16]byte(network[8:24])), netip.AddrFrom16([16]byte(network[24:40]))
		inside, whole = network[40:], int(binary.BigEndian.Uint16(network[4:]))
	default:
		return segment{}, ""
	}
	if len(inside) < 20 {
		return segment{}, cutOff
	}
	if whole <= 0 { // the card cuts it up: the length is that of the packet
		whole = len(inside)
	}
	flags := inside[13]
	return segment{
		tcp: true, sequence: binary.BigEndian.Uint32(inside[4:]), bytes: max(0, whole-int(inside[12]>>4)*4),
		from: netip.AddrPortFrom(from, binary.BigEndian.Uint16(inside)), to: netip.AddrPortFrom(to, binary.BigEndian.Uint16(inside[2:])),
		begins: flags&flagSYN != 0, ends: flags&flagFIN != 0, reset: flags&flagRST != 0,
	}, ""
}

const (
	protocolTCP = 6
	flagFIN     = 1
	flagSYN     = 2
	flagRST     = 4
)

// networkOf returns the packet of IP in a frame; nothing of another.
func networkOf(link layers.LinkType, data []byte) ([]byte, reason) {
	skip, kind := 0, -1 // where EtherType stands
	switch link {
	case layers.LinkTypeEthernet:
		kind = 12
		for len(data) >= kind+2 && (binary.BigEndian.Uint16(data[kind:]) == 0x8100 || binary.BigEndian.Uint16(data[kind:]) == 0x88a8) {
			kind += 4 // a tag of a virtual LAN
		}
		skip = kind + 2
	case layers.LinkTypeLinuxSLL:
		kind, skip = 14, 16
	case linuxSLL2:
		kind, skip = 0, 20
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		skip = 4
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
	default:
		return nil, foreignLink
	}
	if len(data) < skip || len(data) < kind+2 {
		return nil, cutOff
	}
	if kind >= 0 {
		if of := binary.BigEndian.Uint16(data[kind:]); of != 0x0800 && of != 0x86dd {
			return nil, ""
		}
	}
	return data[skip:], ""
}

// linuxSLL2 is LINKTYPE_LINUX_SLL2, which captures on all interfaces have.
const linuxSLL2 layers.LinkType = 276
