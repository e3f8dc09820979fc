package tcpinfo

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// attribute encodes one attribute, padded.
func attribute(kind uint16, value []byte) []byte {
	a := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	a = append(binary.NativeEndian.AppendUint16(a, kind), value...)
	for len(a)%unix.RTA_ALIGNTO != 0 {
		a = append(a, 0)
	}
	return a
}

func TestAnOldKernelsShorterAccountIsRead(t *testing.T) {
	layout := make([]byte, 104) // Linux 3.x: up to total_retrans
	binary.NativeEndian.PutUint32(layout[68:], 250)
	binary.NativeEndian.PutUint32(layout[100:], 7)
	answer := append(make([]byte, answerLength), attribute(attrCong, []byte("reno\x00"))...)
	answer = append(answer, attribute(attrInfo, layout)...)
	s, err := parse(answer)
	if err != nil || s.RTT != 250*time.Microsecond || s.Retransmits != 7 || s.Congestion != "reno" || s.Busy != 0 || s.AckedBytes != 0 {
		t.Errorf("%+v, error %v", s, err)
	}
}

func TestAnRTTThatNobodyMeasuredIsNone(t *testing.T) {
	layout := make([]byte, unix.SizeofTCPInfo)
	for i := range layout {
		layout[i] = 0xff
	}
	if got := info(layout); got.MinRTT != 0 {
		t.Errorf("least rtt %s, want none", got.MinRTT)
	}
}

// The kernel is trusted, its answer's lengths are not: no input may make the
// reader look beyond it.
func FuzzAnswers(f *testing.F) {
	answer := append(make([]byte, answerLength), attribute(attrCong, []byte("cubic\x00"))...)
	answer = append(answer, attribute(attrInfo, make([]byte, unix.SizeofTCPInfo))...)
	datagram := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(answer)))
	datagram = binary.NativeEndian.AppendUint16(datagram, getSock)
	datagram = append(datagram, make([]byte, unix.SizeofNlMsghdr-6)...)
	datagram = append(datagram, answer...)
	f.Add(datagram)
	f.Add(datagram[:len(datagram)-1])
	f.Add([]byte{16, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, datagram []byte) {
		taken := 0
		_, err := each(datagram, func(answer []byte) error {
			taken++
			_, err := parse(answer)
			return err
		})
		if taken > len(datagram)/unix.SizeofNlMsghdr {
			t.Errorf("%d answers in %d bytes, error %v", taken, len(datagram), err)
		}
	})
}

func TestRefusalsAreSaidInWords(t *testing.T) {
	refused := func(errno unix.Errno) []byte {
		datagram := binary.NativeEndian.AppendUint32(nil, unix.SizeofNlMsghdr+4)
		datagram = binary.NativeEndian.AppendUint16(datagram, unix.NLMSG_ERROR)
		datagram = append(datagram, make([]byte, unix.SizeofNlMsghdr-6)...)
		return binary.NativeEndian.AppendUint32(datagram, uint32(-int32(errno)))
	}
	for errno, want := range map[unix.Errno]string{
		unix.ENOENT: "the kernel has no tcp_diag",
		unix.EINVAL: "filters by port need Linux 4.16",
		unix.EPERM:  "the kernel refused the request: operation not permitted",
	} {
		done, err := each(refused(errno), nil)
		if !done || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: done %t, error %v; want %q", errno, done, err, want)
		}
	}
	broken := refused(unix.EINTR)
	binary.NativeEndian.PutUint16(broken[4:], unix.NLMSG_DONE)
	if _, err := each(broken, nil); err == nil {
		t.Error("a walk that broke off passed as whole")
	}
}
