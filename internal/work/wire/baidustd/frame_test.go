package baidustd

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"netdyno/internal/work/wire/baidustd/rpcmeta"
)

const mebi = 1 << 20

// framed encodes a frame whole.
func framed(t testing.TB, m Meta, message, attachment string) []byte {
	t.Helper()
	m.AttachmentBytes = int32(len(attachment))
	frame := append(AppendHead(nil, &m), message...)
	if err := Seal(frame, &m); err != nil {
		t.Fatal(err)
	}
	return append(frame, attachment...)
}

var request = Meta{Service: []byte("netdyno.v1.Exchange"), Method: []byte("Unary"), CorrelationID: 7}

// judged is what generated code reads in a meta; nil where it refuses it.
func judged(encoded []byte) *rpcmeta.RpcMeta {
	var m rpcmeta.RpcMeta
	if proto.Unmarshal(encoded, &m) != nil {
		return nil
	}
	return &m
}

// same compares what we read with what generated code reads.
func same(t testing.TB, got Meta, want *rpcmeta.RpcMeta) {
	t.Helper()
	if string(got.Service) != want.GetRequest().GetServiceName() || string(got.Method) != want.GetRequest().GetMethodName() ||
		got.ErrorCode != want.GetResponse().GetErrorCode() || string(got.ErrorText) != want.GetResponse().GetErrorText() ||
		got.Compression != want.GetCompressType() || got.CorrelationID != want.GetCorrelationId() ||
		got.AttachmentBytes != want.GetAttachmentSize() {
		t.Errorf("read %+v, generated code reads %v", got, want)
	}
}

func TestFramesComeBackAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 300)
		m := Meta{CorrelationID: rapid.Int64().Draw(t, "id"), Compression: rapid.Int32().Draw(t, "compression")}
		if rapid.Bool().Draw(t, "request") {
			m.Service, m.Method = append([]byte{}, text.Draw(t, "service")...), text.Draw(t, "method")
		} else {
			m.ErrorCode, m.ErrorText = rapid.Int32().Draw(t, "code"), text.Draw(t, "error")
		}
		message, attachment := rapid.SliceOfN(rapid.Byte(), 0, 200<<10).Draw(t, "message"), text.Draw(t, "attachment")
		m.AttachmentBytes = int32(len(attachment))
		head := AppendHead(nil, &m)
		oracle := judged(head[headerSize:])
		if oracle == nil {
			t.Fatalf("generated code does not read the meta % x", head[headerSize:])
		}
		frame := append(head, message...)
		if err := Seal(frame, &m); err != nil {
			t.Fatal(err)
		}
		frame = append(frame, attachment...)
		// Frames follow each other, and pieces come as small as they like.
		r := NewReader(iotest.HalfReader(bytes.NewReader(bytes.Repeat(frame, 2))), 64, mebi)
		for range 2 {
			f, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(f.Message, message) || !bytes.Equal(f.Attachment, attachment) ||
				!bytes.Equal(f.Meta.Service, m.Service) || !bytes.Equal(f.Meta.Method, m.Method) || f.Meta.CorrelationID != m.CorrelationID {
				t.Fatalf("sent %+v with %d + %d bytes, read %+v with %d + %d", m, len(message), len(attachment), f.Meta, len(f.Message), len(f.Attachment))
			}
			if f.Meta.ErrorCode != oracle.GetResponse().GetErrorCode() || f.Meta.Compression != oracle.GetCompressType() {
				t.Fatalf("read %+v, generated code reads %v", f.Meta, oracle)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after the last frame: %v, want io.EOF", err)
		}
	})
}

// header makes a header that says what it likes.
func header(magic string, body, meta uint32) string {
	return magic + string([]byte{byte(body >> 24), byte(body >> 16), byte(body >> 8), byte(body), byte(meta >> 24), byte(meta >> 16), byte(meta >> 8), byte(meta)})
}

func TestMalformedFramesAreNamed(t *testing.T) {
	attachedTooMuch := framed(t, Meta{CorrelationID: 1}, "", strings.Repeat("a", 9))
	for name, c := range map[string]struct{ bytes, want string }{
		"another protocol":           {"GET / HTTP/1.1\r\n\r\n", `"GET "`},
		"body above the limit":       {header("PRPC", mebi+1, 4), "at most 1048576"},
		"huge":                       {header("PRPC", 1<<32-1, 1<<32-1), "at most 1048576"},
		"meta beyond the body":       {header("PRPC", 4, 5) + "1234", "meta of 5 bytes in a body of 4"},
		"meta above its limit":       {header("PRPC", MaxMeta+1, MaxMeta+1), "at most 65536"},
		"meta that is none":          {header("PRPC", 4, 4) + "\xff\xff\xff\xff", "does not parse"},
		"request without a method":   {header("PRPC", 4, 4) + "\x0a\x02\x0a\x00", "no method"},
		"attachment beyond the body": {header("PRPC", 8, 8) + string(attachedTooMuch[headerSize:headerSize+8]), "attachment of 9 bytes"},
		"attachment below zero":      {header("PRPC", 11, 11) + "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "attachment of -1 bytes"},
	} {
		r := NewReader(strings.NewReader(c.bytes), 4096, mebi)
		_, err := r.Next()
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a malformed frame and %q", name, err, c.want)
		}
		if _, again := r.Next(); !errors.Is(again, ErrMalformed) || !r.Whole() {
			t.Errorf("%s: read on after the error: %v", name, again)
		}
	}
}

func TestFramesCutOffAreNotWhole(t *testing.T) {
	frame := framed(t, request, "message", "attachment")
	for n := 1; n < len(frame); n++ {
		r := NewReader(bytes.NewReader(frame[:n]), 16, mebi)
		if _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v, want io.ErrUnexpectedEOF", n, len(frame), err)
		}
	}
}

// What a header announces costs nothing until it comes.
func TestMemoryFollowsWhatHasCome(t *testing.T) {
	const announced = 1 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		r := NewReader(strings.NewReader(header("PRPC", announced, 4)+"1234"), 16, announced)
		if _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d bytes were allocated for 16 headers that announce 1 GiB each", got)
	}
}

func TestWholeTellsWhetherNextWaits(t *testing.T) {
	frame := framed(t, request, "message", "")
	in, out := io.Pipe()
	r := NewReader(in, 4096, mebi)
	if r.Whole() {
		t.Error("whole before anything has come")
	}
	go out.Write(append(bytes.Clone(frame), frame...)[:2*len(frame)-1]) // the second lacks a byte
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if r.Whole() {
		t.Error("whole with one byte missing")
	}
	go out.Write(append(bytes.Clone(frame[len(frame)-1:]), frame...))
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNothingIsAllocatedForAFrame(t *testing.T) {
	m := request
	frame := framed(t, m, strings.Repeat("m", 1000), "attached")
	in := bytes.NewReader(bytes.Repeat(frame, 200))
	r := NewReader(in, 4096, mebi)
	buf := make([]byte, 0, 4096)
	if got := testing.AllocsPerRun(100, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		buf = AppendHead(buf[:0], &m)
	}); got > 0 {
		t.Errorf("%v allocations for a frame read and a head written", got)
	}
}

func TestSealRefusesWhatAHeaderCannotSay(t *testing.T) {
	m := Meta{AttachmentBytes: -1 << 31}
	if err := Seal(AppendHead(nil, &m), &m); err == nil {
		t.Error("a body of less than nothing was sealed")
	}
}

// FuzzReader: whatever comes, frames are read as generated code reads them, or
// refused as it would.
func FuzzReader(f *testing.F) {
	f.Add(framed(f, request, "message", "attachment"))
	f.Add(framed(f, Meta{ErrorCode: NoMethod, ErrorText: []byte("none")}, "", ""))
	f.Add([]byte(header("PRPC", 1<<32-1, 1<<31)))
	f.Add([]byte(header("PRPC", 11, 11) + "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte(header("PRPC", 4, 4) + "\x0b\x13\x14\x0c")) // groups
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := NewReader(bytes.NewReader(sent), 64, mebi)
		left := sent
		for {
			frame, err := r.Next()
			if err != nil {
				refusedRightly(t, left, err)
				return
			}
			body, meta, _ := sizes(left[:headerSize], mebi)
			oracle := judged(left[headerSize : headerSize+meta])
			if oracle == nil {
				t.Fatalf("read %+v, generated code refuses % x", frame.Meta, left[headerSize:headerSize+meta])
			}
			same(t, frame.Meta, oracle)
			if len(frame.Message)+len(frame.Attachment) != body-meta || len(frame.Attachment) != int(frame.Meta.AttachmentBytes) {
				t.Fatalf("%d + %d bytes of a body of %d - %d", len(frame.Message), len(frame.Attachment), body, meta)
			}
			left = left[headerSize+body:]
		}
	})
}

// refusedRightly checks that a meta was refused only where generated code does,
// or where its attachment does not fit.
func refusedRightly(t *testing.T, left []byte, err error) {
	t.Helper()
	if len(left) < headerSize {
		return
	}
	body, meta, bad := sizes(left[:headerSize], mebi)
	if bad != nil || len(left) < headerSize+body {
		return
	}
	m := judged(left[headerSize : headerSize+meta])
	if m != nil && m.GetAttachmentSize() >= 0 && int(m.GetAttachmentSize()) <= body-meta {
		t.Fatalf("refused (%v) what generated code reads: %v", err, m)
	}
}
