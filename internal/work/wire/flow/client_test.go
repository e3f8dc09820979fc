package flow

import (
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// begun returns a client's flow that has begun, with so many slots in a closed
// loop of one exchange each.
func begun(t *testing.T, x contract.Exchange, slots int) (*Client, *load.Load, *Agenda) {
	t.Helper()
	setup := contract.Setup{Exchange: x, Load: contract.Load{Connections: 1, InFlight: slots, Amount: int64(slots)}}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	agenda := &Agenda{}
	c := NewClient(work, l.Slots(0), agenda)
	if c.Unsent() {
		t.Error("bytes wait before anything was queued")
	}
	l.Start()
	c.Begin()
	return c, l, agenda
}

// write moves n bytes at most, in pieces as the flow gives them.
func write(f Flow, n int) (moved int) {
	for n > 0 && f.Unsent() {
		piece := min(n, len(f.Outgoing()))
		f.Written(piece)
		n, moved = n-piece, moved+piece
	}
	return moved
}

func TestClientSendsInOrderAndStampsTheFirstByte(t *testing.T) {
	c, l, agenda := begun(t, contract.Exchange{Stream: contract.StreamUp, UpBytes: 10, DownBytes: 2, ChunkBytes: 4}, 2)
	c.Outgoing() // the kernel took nothing: it is not sent yet
	c.Written(0)
	before := load.Now()
	if n := write(c, 13); n != 13 {
		t.Fatalf("%d bytes of 13", n)
	}
	between := load.Now()
	for i, f := range c.flights {
		if f.slot != &l.Slots(0)[i] || f.sent < before || f.sent > between {
			t.Errorf("exchange %d: %+v, want its slot's, stamped when its first byte was written", i, f)
		}
	}
	if n := write(c, 100); n != 7 || c.Unsent() {
		t.Fatalf("%d bytes of the 7 that were left", n)
	}
	for came, completed := range []int64{0, 0, 1, 1, 2} {
		if came > 0 {
			if err := c.Received(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.Counts(); got.Exchanges != completed || got.ReceivedBytes != 2*completed {
			t.Errorf("after %d bytes: %+v, want %d exchanges", came, got, completed)
		}
		if agenda.Held() != 2-int(completed) {
			t.Errorf("after %d bytes %d slots are held", came, agenda.Held())
		}
	}
}

func TestClientSeesSurplusAtOnce(t *testing.T) {
	for _, c := range []struct {
		stream      contract.Stream
		sent, fits  int
		description string
	}{
		{"", 4, 4, "an echo of what has gone up so far"},
		{contract.StreamUp, 9, 0, "nothing before the last byte"},
		{contract.StreamUp, 10, 10, "the answer"},
		{contract.StreamBoth, 1, 9, "all but the last byte"},
		{contract.StreamDown, 15, 10, "one answer for one and a half messages"},
	} {
		for surplus := range 2 {
			f, _, _ := begun(t, contract.Exchange{Stream: c.stream, UpBytes: 10, DownBytes: 10}, 2)
			write(f, c.sent)
			if err := f.Received(make([]byte, c.fits+surplus)); errors.Is(err, errSurplus) != (surplus == 1) {
				t.Errorf("stream %q, %d sent, %d came, %s: %v", c.stream, c.sent, c.fits+surplus, c.description, err)
			}
		}
	}
}

func TestClientAbandonsWhatIsInFlight(t *testing.T) {
	for _, c := range []struct {
		kind           contract.ErrorKind
		came           int
		failed, missed int64
	}{
		{contract.Peer, 10, 2, 0},
		{"", 10, 0, 2}, // we broke it off
		{contract.Invalid, 30, 1, 0},
		{contract.Peer, 30, 0, 0},
	} {
		f, l, agenda := begun(t, contract.Exchange{UpBytes: 10, DownBytes: 10}, 3)
		write(f, max(25, c.came))
		if err := f.Received(make([]byte, c.came)); err != nil {
			t.Fatal(err)
		}
		var why error
		if c.kind != "" {
			why = load.Failure(c.kind, errors.New("why"))
		}
		f.Abandon(why)
		r, err := l.Result()
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Counts; got.Exchanges != int64(c.came/10) || got.Errors[c.kind] != c.failed || r.Unfinished != c.missed {
			t.Errorf("%q after %d bytes: %+v, %d unfinished; want %d failed, %d unfinished", c.kind, c.came, got, r.Unfinished, c.failed, c.missed)
		}
		if f.Unsent() || agenda.Held() != 0 {
			t.Errorf("%q: %d slots are held, unsent %v", c.kind, agenda.Held(), f.Unsent())
		}
	}
}

func TestAgendaKeepsWhatIsDueLater(t *testing.T) {
	setup := contract.Setup{Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1}, Load: contract.Load{Connections: 2, Rate: 1}}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	agenda := &Agenda{}
	var clients []*Client
	l.Start()
	for i := range 2 {
		clients = append(clients, NewClient(work, l.Slots(i), agenda))
		clients[i].Begin()
	}
	first, _ := agenda.Due()
	if agenda.Fire(first-1) != nil || agenda.Fire(first) != clients[0] || !clients[0].Unsent() {
		t.Error("the first exchange does not begin when it is due")
	}
	clients[1].Abandon(io.EOF)
	second, _ := agenda.Due()
	if agenda.Fire(second) != nil || agenda.Held() != 1 {
		t.Errorf("a lost connection sends; %d slots are held", agenda.Held())
	}
	write(clients[0], 1)
	if err := clients[0].Received([]byte{0}); err != nil {
		t.Fatal(err)
	}
	third, _ := agenda.Due()
	if agenda.End(third); agenda.Held() != 1 {
		t.Error("what is due at the end is not sent")
	}
	if agenda.End(third - 1); agenda.Held() != 0 {
		t.Error("what is due after the end is kept")
	}
}

// What is spread is the same bytes, each chunk of them from another place than the one before, and
// two connections are not at the same place.
func TestContentThatIsSpread(t *testing.T) {
	exchange := contract.Exchange{Stream: contract.StreamUp, UpBytes: 20_000, DownBytes: 1, ChunkBytes: 8_192}
	setup := contract.Setup{Role: contract.Client, Exchange: exchange, Options: map[string]any{"content": "stream"}}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	setup.Options = nil
	plain, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	places := map[*byte]bool{}
	for range 2 {
		c := NewClient(work, make([]load.Slot, 1), &Agenda{})
		var sent []byte
		for at := int64(0); at < 20_000; at = int64(len(sent)) {
			piece := work.Up.From(c.copy, at, 20_000)
			if places[&piece[0]] {
				t.Errorf("at %d: the piece lies where one was sent from before", at)
			}
			places[&piece[0]] = true
			half := piece[:len(piece)/2+1] // a kernel may take a part
			sent = append(sent, half...)
			c.copy = work.Up.After(c.copy, int64(len(sent)), 20_000)
			if rest := piece[len(half):]; len(rest) > 0 {
				if again := work.Up.From(c.copy, int64(len(sent)), 20_000); &again[0] != &rest[0] {
					t.Errorf("at %d: the rest of a piece comes from elsewhere", len(sent))
				}
				sent = append(sent, rest...)
				c.copy = work.Up.After(c.copy, int64(len(sent)), 20_000)
			}
		}
		if got, want := crc32.Checksum(sent, castagnoli), plain.Up.Sum(); got != want {
			t.Errorf("CRC-32C %08x, want that of the block repeated, %08x", got, want)
		}
	}
	setup.Exchange, setup.Options = contract.Exchange{UpBytes: 10, DownBytes: 10}, map[string]any{"content": "stream"}
	if _, err := NewWork(setup); load.KindOf(err) != contract.SetupFailed {
		t.Errorf("on wire echo: %v, want a refusal", err)
	}
}
