package check

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// streamFault begins the faults of a fake that speaks wire stream.
const streamFault = "stream: "

// streamFake is a worker with both ends of wire stream: one exchange in flight
// on each connection, every message in one piece, and a fault.
type streamFake struct {
	fault string
	out   *contract.Writer

	mu     sync.Mutex
	bulk   bulk
	conns  []net.Conn // a client's
	counts contract.Counts
}

func (f *streamFake) is(fault string) bool { return f.fault == streamFault+fault }

func (f *streamFake) say(m contract.Message) { _ = f.out.Write(m) } // a reader that is gone ends the test anyway

func playStreamFake(fault string) {
	f := &streamFake{fault: fault, out: contract.NewWriter(os.Stdout)}
	f.say(contract.Message{Hello: &contract.Hello{
		Contract: contract.Version, Worker: "fake", Version: "1", Transports: []contract.Transport{fakeStreams},
	}})
	for reader := contract.NewReader(os.Stdin); ; {
		m, err := reader.Read()
		switch {
		case err != nil:
			return
		case m.Setup != nil:
			f.setUp(m.Setup)
		case m.Start != nil:
			for _, conn := range f.conns {
				go f.load(conn)
			}
			go f.tick()
		case m.Mark != nil:
			m.Mark.Reading = &contract.Reading{AtNs: time.Now().UnixNano(), Counts: f.sums()}
			f.say(contract.Message{Mark: m.Mark})
		}
	}
}

var fakeStreams = contract.Transport{
	Name: "fake", Doc: "Moves streams.", Wire: "echo", Delivery: contract.DeliveryChunks,
	Roles:    []contract.Role{contract.Server, contract.Client},
	Features: []contract.Feature{contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth},
}

func (f *streamFake) fail(kind contract.ErrorKind, text string) {
	f.say(contract.Message{Error: &contract.Error{Kind: kind, Text: text, Fatal: true}})
	os.Exit(1)
}

func (f *streamFake) setUp(s *contract.Setup) {
	x := s.Exchange
	if (x.UpBytes < 1 || x.DownBytes < 1 || x.ChunkBytes < 0 || x.ChunkBytes > 64<<20) && !f.is("takes any size") {
		f.fail(contract.SetupFailed, "sizes")
	}
	x.UpBytes, x.DownBytes, x.ChunkBytes = max(1, x.UpBytes), max(1, x.DownBytes), max(0, x.ChunkBytes)
	f.bulk = newBulk(x)
	if f.is("sends other content") {
		f.bulk.up, f.bulk.down = slices.Clone(f.bulk.up), slices.Clone(f.bulk.down)
		f.bulk.up[0] ^= 1
		f.bulk.down[0] ^= 1
	}
	if s.Role == contract.Server {
		l, err := net.Listen("tcp", s.Listen)
		if err != nil {
			f.fail(contract.SetupFailed, err.Error())
		}
		go f.accept(l)
		f.say(contract.Message{Ready: &contract.Ready{Addresses: []string{l.Addr().String()}}})
		return
	}
	for range s.Load.Connections {
		conn, err := net.Dial("tcp", s.Peers[0])
		if err != nil {
			f.fail(contract.Peer, err.Error())
		}
		f.conns = append(f.conns, conn)
		if _, err := conn.Write(f.bulk.up); err != nil {
			f.fail(contract.Peer, err.Error())
		}
		down := make([]byte, len(f.bulk.down))
		if _, err := io.ReadFull(conn, down); err != nil || !f.believes(down, f.bulk.down) {
			f.fail(contract.Invalid, "other content")
		}
	}
	f.say(contract.Message{Ready: &contract.Ready{Connections: len(f.conns), Verified: len(f.conns)}})
}

// believes reports whether received content passes for what was expected.
func (f *streamFake) believes(got, want []byte) bool {
	return f.is("believes anything") || f.is("sends other content") || bytes.Equal(got, want)
}

func (f *streamFake) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go f.serve(conn)
	}
}

func (f *streamFake) serve(conn net.Conn) {
	defer conn.Close()
	up, down, both := make([]byte, len(f.bulk.up)), f.bulk.down, f.bulk.exchange.Stream == contract.StreamBoth
	for first := true; ; first = false {
		if _, err := io.ReadFull(conn, up[:1]); err != nil {
			return
		}
		early := 0
		switch {
		case f.is("answers at once"), both && f.is("holds nothing back"):
			early = len(down)
		case both:
			early = len(down) - 1
		}
		sent := make(chan error, 1)
		go func() { _, err := conn.Write(down[:early]); sent <- err }()
		_, err := io.ReadFull(conn, up[1:])
		if err != nil && f.is("dies with its client") {
			os.Exit(3)
		}
		if err != nil || first && !f.believes(up, f.bulk.up) {
			_ = conn.Close() // ends the sending
		}
		if err = errors.Join(err, <-sent); err == nil {
			_, err = conn.Write(down[early:])
		}
		if err != nil {
			return
		}
		f.count(1, len(down))
	}
}

// count adds exchanges of so many bytes down.
func (f *streamFake) count(n int64, down int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.Exchanges += n
	f.counts.ReceivedBytes += n * int64(len(f.bulk.up))
	f.counts.SentBytes += n * int64(down)
}

func (f *streamFake) sums() contract.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counts
	c.Errors = map[contract.ErrorKind]int64{}
	for kind, n := range f.counts.Errors {
		c.Errors[kind] = n
	}
	if f.is("counts twice") {
		c.Exchanges *= 2
	}
	return c
}

// load exchanges on one of a client's connections until it breaks.
func (f *streamFake) load(conn net.Conn) {
	down := make([]byte, len(f.bulk.down)+1)
	if f.is("reads no more than it needs") {
		down = down[:len(f.bulk.down)]
	}
	for {
		_, err := conn.Write(f.bulk.up)
		n := 0
		for n < len(f.bulk.down) && err == nil {
			var more int
			more, err = conn.Read(down[n:])
			n += more
		}
		kind := contract.Peer
		if n > len(f.bulk.down) {
			kind, err = contract.Invalid, errors.New("surplus")
		}
		if err != nil {
			f.lose(kind)
			return
		}
		f.count(1, len(f.bulk.down))
	}
}

func (f *streamFake) lose(kind contract.ErrorKind) {
	if f.is("forgets what is lost") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts.Errors == nil {
		f.counts.Errors = map[contract.ErrorKind]int64{}
	}
	f.counts.Errors[kind]++
}

func (f *streamFake) tick() {
	for range time.Tick(50 * time.Millisecond) {
		c := f.sums()
		tick := contract.Tick{AtNs: time.Now().UnixNano(), Exchanges: c.Exchanges, ReceivedBytes: c.ReceivedBytes}
		for _, n := range c.Errors {
			tick.Errors += n
		}
		f.say(contract.Message{Tick: &tick})
	}
}

// judgeStream runs one case on wire stream against the fake with a fault.
func judgeStream(t *testing.T, fault, name string) Outcome {
	t.Helper()
	s := &subject{ctx: t.Context(), argv: []string{os.Args[0]}, env: fakeEnv(streamFault + fault), stretch: 1, transport: fakeStreams}
	for _, r := range streamRules {
		if r.name == "streams, "+name {
			return s.judge(r)
		}
	}
	t.Fatalf("there is no case %q", name)
	return Outcome{}
}

func TestStreamFaultsFailTheirCases(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ fault, rule, says string }{
		{"sends other content", "a server's bytes", "byte 0 of 10 of what came down"},
		{"answers at once", "a server's bytes", "before all of the message had gone up"},
		{"holds nothing back", "a server's bytes", "stream both"},
		{"counts twice", "a server's bytes", "exchanges"},
		{"sends other content", "a client's bytes", "of what came up"},
		{"believes anything", "wrong content comes down", "expected error"},
		{"believes anything", "wrong content comes up", "the connection stayed open"},
		{"reads no more than it needs", "more comes than was asked for", "no tick with errors came"},
		{"forgets what is lost", "the server breaks off", "no tick with errors came"},
		{"dies with its client", "a client breaks off", "Close that connection alone"}, // found dead on the next connection, or at its end
		{"takes any size", "impossible sizes", "expected error"},
	} {
		t.Run(f.fault+", "+f.rule, func(t *testing.T) {
			t.Parallel()
			o := judgeStream(t, f.fault, f.rule)
			if o.Pass || o.Skipped || !strings.Contains(o.Text, f.says) {
				t.Errorf("passed %v, skipped %v: the failure does not say %q: %s", o.Pass, o.Skipped, f.says, o.Text)
			}
		})
	}
}

// Without this, the faults above would prove nothing.
func TestHonestStreamsPass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a server's bytes", "wrong content comes down", "wrong content comes up",
		"more comes than was asked for", "the server breaks off", "a client breaks off", "impossible sizes",
	} {
		if o := judgeStream(t, honest, name); !o.Pass {
			t.Errorf("%s: %s", name, o.Text)
		}
	}
}
