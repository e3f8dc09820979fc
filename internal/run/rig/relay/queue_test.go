package relay

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The delay counts from a packet's arrival, not from when we come to read.
func TestTheKernelNotesWhenPacketsArrive(t *testing.T) {
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	var q *queue
	err := within(b.namespace, func() (err error) {
		q, err = openQueue(generous.unread)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	r, err := addRule(b.namespace, "eth0")
	if err != nil {
		t.Fatal(err)
	}
	defer r.remove()

	// The kernel begins to take the time a moment after it is asked to.
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		sent := time.Now()
		if _, err := from.WriteTo([]byte("packet"), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		read := time.Now()
		p, ok, err := q.nextPacket()
		if err != nil {
			t.Fatal(err)
		}
		if ok && !p.arrival.IsZero() {
			if p.arrival.Before(sent.Add(-time.Second)) || p.arrival.After(read) {
				t.Errorf("a packet sent at %v and read at %v arrived at %v", sent, read, p.arrival)
			}
			return
		}
	}
	t.Fatal("no packet bears the time of its arrival")
}

// message builds what the kernel would send.
func message(kind uint16, body ...byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(append(b, make([]byte, unix.SizeofNlMsghdr-6)...), body...)
}

func attribute(kind uint16, value ...byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, -len(b)&3)...)
}

func TestParse(t *testing.T) {
	generic := []byte{0, 0, 0, 0}
	header := attribute(attrPacketHdr, 0, 0, 1, 2, 8, 0, 0)
	stamp := attribute(attrTimestamp, 0, 0, 0, 0, 0x5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)
	join := func(parts ...[]byte) []byte {
		out := append([]byte{}, generic...)
		for _, p := range parts {
			out = append(out, p...)
		}
		return message(msgPacket, out...)
	}
	arrival := time.Unix(0x5f000000, 9000)
	for name, c := range map[string]struct {
		bytes []byte
		want  announced
		ok    bool
		bad   bool
	}{
		"packet":                 {join(header), announced{id: 0x102}, true, false},
		"packet with a time":     {join(header, stamp), announced{0x102, arrival}, true, false},
		"unknown attributes":     {join(attribute(5, 1, 2, 3), stamp, attribute(99), header), announced{0x102, arrival}, true, false},
		"answer without error":   {message(unix.NLMSG_ERROR, 0, 0, 0, 0), announced{}, false, false},
		"packet without number":  {join(stamp), announced{}, false, true},
		"attribute cut short":    {join(header[:8]), announced{}, false, true},
		"attribute of no length": {join([]byte{0, 0, 1, 0}), announced{}, false, true},
		"another type":           {message(99, generic...), announced{}, false, true},
		"too short":              {message(msgPacket), announced{}, false, true},
		"nothing":                {nil, announced{}, false, true},
	} {
		got, ok, err := parse(c.bytes)
		if ok != c.ok || (err != nil) != c.bad || ok && (got.id != c.want.id || !got.arrival.Equal(c.want.arrival)) {
			t.Errorf("%s: %+v, %v, %v; expected %+v, %v", name, got, ok, err, c.want, c.ok)
		}
	}
	errno := int32(unix.EPERM)
	refused := binary.NativeEndian.AppendUint32(nil, uint32(-errno))
	if _, _, err := parse(message(unix.NLMSG_ERROR, refused...)); !errors.Is(err, unix.EPERM) {
		t.Errorf("error %v of an answer that bears %v", err, unix.EPERM)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(message(msgPacket, append([]byte{0, 0, 0, 0}, attribute(attrPacketHdr, 0, 0, 1, 2)...)...))
	f.Add(message(unix.NLMSG_ERROR, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, ok, err := parse(b); ok && err != nil {
			t.Errorf("a packet and the error %v", err)
		}
	})
}
