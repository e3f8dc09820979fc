package flow

import (
	"bytes"
	"testing"

	"netdyno/internal/contract"
)

func newServed(t *testing.T, x contract.Exchange) *Served {
	t.Helper()
	work, err := NewWork(contract.Setup{Exchange: x})
	if err != nil {
		t.Fatal(err)
	}
	return NewServed(work)
}

// drain takes everything that a server has to write, n bytes at a time.
func drain(f Flow, n int) (out []byte) {
	for f.Unsent() {
		piece := f.Outgoing()
		piece = piece[:min(n, len(piece))]
		out = append(out, piece...)
		f.Written(len(piece))
	}
	return out
}

func TestEchoKeepsWhatIsNotWritten(t *testing.T) {
	served := newServed(t, contract.Exchange{UpBytes: 4, DownBytes: 4})
	f, buffer := served.Begin(), []byte("one, two")
	if err := f.Received(buffer); err != nil {
		t.Fatal(err)
	}
	f.Written(3)
	if f.Limit(100) != 0 {
		t.Error("it reads before it has written")
	}
	f.Keep()
	copy(buffer, "overwritten")
	if got := drain(f, 2); !bytes.Equal(got, []byte(", two")) {
		t.Errorf("echoes %q", got)
	}
	if f.Limit(100) != 100 {
		t.Error("it does not read again")
	}
	if got := served.Counts(); got.ReceivedBytes != 8 || got.SentBytes != 8 || got.Exchanges != 2 || got.Connections != 1 {
		t.Errorf("counts %+v", got)
	}
	served.End(f)
	served.End(f)
	if got := served.Counts(); got.ReceivedBytes != 8 || got.Exchanges != 2 || got.Connections != 0 {
		t.Errorf("counts %+v after its end", got)
	}
}

func TestStreamServerVerifiesTheFirstMessage(t *testing.T) {
	x := contract.Exchange{Stream: contract.StreamUp, UpBytes: 10, DownBytes: 3, ChunkBytes: 4}
	served := newServed(t, x)
	message := whole(t, &served.work.Up, 4)
	f := served.Begin()
	for at := 0; at < 10; {
		if f.Unsent() {
			t.Errorf("answers %d bytes", at)
		}
		n := f.Limit(6)
		if err := f.Received(message[at : at+n]); err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if got := drain(f, 2); !bytes.Equal(got, whole(t, &served.work.Down, 4)) {
		t.Errorf("answers %x", got)
	}
	if err := f.Received(make([]byte, 25)); err != nil {
		t.Fatal("later messages are not verified: ", err)
	}
	if got := drain(f, 100); len(got) != 6 {
		t.Errorf("%d bytes answer two messages and a half", len(got))
	}
	if got := served.Counts(); got.Exchanges != 3 || got.ReceivedBytes != 35 || got.SentBytes != 9 {
		t.Errorf("counts %+v", got)
	}

	f = served.Begin()
	message[9] ^= 1
	if err := f.Received(message); err == nil || f.Unsent() {
		t.Errorf("wrong content: %v, answered %v", err, f.Unsent())
	}
}
