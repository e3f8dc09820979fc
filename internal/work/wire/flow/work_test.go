package flow

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

func streamSetup(stream contract.Stream, up, down, chunk int64) contract.Setup {
	return contract.Setup{Exchange: contract.Exchange{Stream: stream, UpBytes: up, DownBytes: down, ChunkBytes: chunk}}
}

// whole puts a message together from its pieces, none longer than a chunk.
func whole(t *testing.T, c *Content, chunk int64) []byte {
	t.Helper()
	var all []byte
	for at := int64(0); at < c.Bytes; at = int64(len(all)) {
		piece := c.Piece(at)
		if len(piece) == 0 || int64(len(piece)) > chunk {
			t.Fatalf("a piece of %d bytes at %d of %d in chunks of %d", len(piece), at, c.Bytes, chunk)
		}
		all = append(all, piece...)
	}
	if rest := c.Piece(c.Bytes); len(rest) != 0 {
		t.Fatalf("%d bytes follow a message's end", len(rest))
	}
	return all
}

func TestStreamContentFollowsTheVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "contract", "vectors", "stream.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Direction string `json:"direction"`
			Bytes     int64  `json:"bytes"`
			Chunk     int64  `json:"chunk_bytes"`
			First     string `json:"first"`
			CRC32C    string `json:"crc32c"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors.Cases {
		w, err := NewWork(streamSetup(contract.StreamBoth, v.Bytes, v.Bytes, v.Chunk))
		if err != nil {
			t.Fatal(err)
		}
		content := &w.Up
		if v.Direction == "down" {
			content = &w.Down
		}
		all := whole(t, content, v.Chunk)
		if first := hex.EncodeToString(all[:min(16, len(all))]); first != v.First {
			t.Errorf("%+v: begins with %s", v, first)
		}
		if sum := fmt.Sprintf("%08x", content.Sum()); sum != v.CRC32C {
			t.Errorf("%+v: CRC-32C %s", v, sum)
		}
	}
}

// What a server owes is what CONTRACT.md, section Wires, says of each direction.
func TestOwed(t *testing.T) {
	for _, c := range []struct {
		stream   contract.Stream
		up, down int64
		owed     map[int64]int64 // by bytes that came
	}{
		{"", 4, 4, map[int64]int64{0: 0, 1: 1, 4: 4, 9: 9}},
		{contract.StreamUp, 4, 3, map[int64]int64{0: 0, 3: 0, 4: 3, 7: 3, 8: 6}},
		{contract.StreamDown, 1, 10, map[int64]int64{0: 0, 1: 10, 3: 30}},
		{contract.StreamBoth, 4, 10, map[int64]int64{0: 0, 1: 9, 3: 9, 4: 10, 5: 19, 8: 20}},
		{contract.StreamBoth, 1, 1, map[int64]int64{0: 0, 1: 1, 2: 2}},
		{contract.StreamBoth, 2, 1, map[int64]int64{0: 0, 1: 0, 2: 1, 3: 1, 4: 2}},
	} {
		w, err := NewWork(streamSetup(c.stream, c.up, c.down, 0))
		if err != nil {
			t.Fatal(err)
		}
		for came, want := range c.owed {
			if got := w.Owed(came); got != want {
				t.Errorf("%q of %d up, %d down: owes %d for %d bytes, want %d", c.stream, c.up, c.down, got, came, want)
			}
		}
	}
}

func TestStreamRefusesWhatItCannotDo(t *testing.T) {
	for _, setup := range []contract.Setup{
		streamSetup(contract.StreamUp, 0, 1, 0), streamSetup(contract.StreamUp, 1, 0, 0),
		streamSetup(contract.StreamDown, 1, -1, 0), streamSetup(contract.StreamDown, 1, contract.MaxMessage+1, 0),
		streamSetup(contract.StreamBoth, 1, 1, -1), streamSetup(contract.StreamBoth, 1, 1, wire.MaxChunk+1),
		streamSetup("sideways", 1, 1, 0),
	} {
		if _, err := NewWork(setup); load.KindOf(err) != contract.SetupFailed {
			t.Errorf("%+v: %v, want an error of kind setup", setup.Exchange, err)
		}
	}
}

func TestVerifierFindsEveryDamage(t *testing.T) {
	w, err := NewWork(streamSetup(contract.StreamDown, 5, 1000, 64))
	if err != nil {
		t.Fatal(err)
	}
	right := whole(t, &w.Down, 64)
	judge := func(damage func([]byte) []byte, step int) error {
		_, check := w.first(0)
		for rest := damage(append([]byte(nil), right...)); len(rest) > 0; {
			n := min(step, len(rest))
			check.Add(rest[:n])
			rest = rest[n:]
		}
		return check.Err(3)
	}
	for _, step := range []int{1, 13, 1000} {
		if err := judge(func(b []byte) []byte { return b }, step); err != nil {
			t.Errorf("the right content in steps of %d: %v", step, err)
		}
	}
	for name, damage := range map[string]func([]byte) []byte{
		"a flipped bit": func(b []byte) []byte { b[999] ^= 1; return b },
		"one byte less": func(b []byte) []byte { return b[:999] },
		"nothing":       func([]byte) []byte { return nil },
		"the other way": func([]byte) []byte { return whole(t, &Content{Bytes: 1000, Block: w.Up.Block}, 64) },
		"a swapped end": func(b []byte) []byte { b[0], b[1] = b[1], b[0]; return b },
	} {
		if err := judge(damage, 100); load.KindOf(err) != contract.Invalid || !strings.Contains(err.Error(), "connection 3") {
			t.Errorf("%s: %v, want an error of kind invalid that names the connection", name, err)
		}
	}
}

func TestPayloadIsIncompressibleAndSeeded(t *testing.T) {
	make1 := func(seed uint64) []byte {
		p, err := echoPayload(contract.Setup{Seed: seed, Exchange: contract.Exchange{UpBytes: 1 << 16, DownBytes: 1 << 16}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, again, b := make1(1), make1(1), make1(2)
	if !bytes.Equal(a, again) || bytes.Equal(a, b) {
		t.Error("the payload does not follow its seed")
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(a) // into memory
	_ = w.Close()     // into memory
	if packed.Len() < len(a) {
		t.Errorf("%d bytes compress to %d", len(a), packed.Len())
	}
}

func TestPayloadRefusesWhatEchoCannotDo(t *testing.T) {
	for _, x := range []contract.Exchange{{}, {UpBytes: -1, DownBytes: -1}, {UpBytes: 10, DownBytes: 20}, {UpBytes: contract.MaxMessage + 1, DownBytes: contract.MaxMessage + 1}} {
		if _, err := echoPayload(contract.Setup{Exchange: x}); load.KindOf(err) != contract.SetupFailed {
			t.Errorf("%+v: %v, want an error of kind setup", x, err)
		}
	}
}

// Echoes of drawn sizes complete at their own lengths, one after the other and several in
// flight, in whatever pieces they come.
func TestAnEchoOfDrawnSizes(t *testing.T) {
	table := contract.Table{{contract.TableEnd, 1, 3000}}
	x := contract.Exchange{UpBytes: 3000, DownBytes: 3000, UpSizes: table, DownSizes: table}
	for _, inFlight := range []int{1, 4} {
		setup := contract.Setup{Seed: 5, Exchange: x, Load: contract.Load{Connections: 1, InFlight: inFlight}}
		work, err := NewWork(setup)
		if err != nil {
			t.Fatal(err)
		}
		l, err := load.New(setup, 1)
		if err != nil {
			t.Fatal(err)
		}
		draws, err := load.DrawsOf(setup)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		l.Open(load.Now())
		c := NewClient(work, l.Slots(0), &Agenda{})
		c.Begin()
		const most = 200
		want := int64(0)
		for n := range uint64(most) {
			want += draws.Of(n).Up
		}
		moved, unread := int64(0), int64(0)
		for piece := int64(1); moved < want; piece = piece*7%1009 + 1 {
			for c.Unsent() && unread < 5000 {
				out := c.Outgoing()
				c.Written(len(out))
				unread += int64(len(out))
			}
			n := min(piece, unread, want-moved)
			if err := c.Received(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			unread -= n
			moved += n
		}
		if got := l.Counts(); got.Exchanges != most || got.ReceivedBytes != want || got.SentBytes != want {
			t.Errorf("%d in flight: %+v, want %d exchanges of %d bytes", inFlight, got, most, want)
		}
	}
}

func TestSizesThatNoWireCarries(t *testing.T) {
	table := contract.Table{{contract.TableEnd, 0, 100}}
	for name, c := range map[string]struct {
		exchange contract.Exchange
		kind     contract.ErrorKind
	}{
		"an echo of nothing":          {contract.Exchange{UpBytes: 100, DownBytes: 100, UpSizes: table, DownSizes: table}, contract.SetupFailed},
		"an echo of another length":   {contract.Exchange{UpBytes: 100, DownBytes: 100, UpSizes: contract.Table{{contract.TableEnd, 1, 100}}}, contract.SetupFailed},
		"messages of a stream differ": {contract.Exchange{UpBytes: 100, DownBytes: 1, UpSizes: table, Stream: contract.StreamUp}, contract.Unsupported},
	} {
		if _, err := NewWork(contract.Setup{Exchange: c.exchange}); load.KindOf(err) != c.kind || err == nil {
			t.Errorf("%s: %v, expected an error of kind %s", name, err, c.kind)
		}
	}
}
