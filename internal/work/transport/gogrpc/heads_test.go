package gogrpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"

	"netdyno/internal/work/load"
)

// frames is what a client of HTTP/2 writes: the preface and so many requests with bodies
// of these sizes.
func frames(t testing.TB, bodies ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	err := f.WriteSettings()
	for i, n := range bodies {
		stream := uint32(2*i + 1)
		err = errors.Join(err, f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: make([]byte, 7), EndStream: n == 0}),
			f.WriteContinuation(stream, true, []byte{1, 1, 1}), f.WritePing(false, [8]byte{1}))
		if n > 0 {
			err = errors.Join(err, f.WriteData(stream, true, bytes.Repeat([]byte{byte(http2.FrameHeaders)}, n)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// discarded is a connection that takes everything.
type discarded struct{ net.Conn }

func (discarded) Write(b []byte) (int, error) { return io.Discard.Write(b) }

// However the bytes are cut into writes, each HEADERS frame is a request.
func FuzzHeads(f *testing.F) {
	f.Add(uint8(3), uint16(9), uint16(1))
	f.Add(uint8(1), uint16(0), uint16(4))
	f.Add(uint8(40), uint16(20000), uint16(1000))
	f.Fuzz(func(t *testing.T, requests uint8, body, piece uint16) {
		bodies := make([]int, requests)
		for i := range bodies {
			bodies[i] = int(body) * i % (1 << 14)
		}
		all, h := frames(t, bodies...), &heads{}
		w := &watched{Conn: discarded{}, heads: h, skip: len(http2.ClientPreface)}
		for step := int(piece) + 1; len(all) > 0; all = all[min(step, len(all)):] {
			if _, err := w.Write(all[:min(step, len(all))]); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.wrote.Load(); got != int64(requests) {
			t.Errorf("%d requests were seen, want %d", got, requests)
		}
	})
}

func TestACallThatNeverWentOut(t *testing.T) {
	h, lost := &heads{}, errors.New("lost")
	if err := h.ended(lost); !errors.As(err, new(load.UnsentError)) || !errors.Is(err, lost) {
		t.Errorf("%v, want an UnsentError of %v", err, lost)
	}
	h.wrote.Add(3) // sent three times
	if err := h.ended(lost); errors.As(err, new(load.UnsentError)) {
		t.Errorf("%v, and its request went out", err)
	}
	if n := h.settle(); n != 2 {
		t.Errorf("it went out %d times more, want 2", n)
	}
	if err := h.ended(lost); !errors.As(err, new(load.UnsentError)) {
		t.Errorf("%v, want an UnsentError again", err)
	}
}
