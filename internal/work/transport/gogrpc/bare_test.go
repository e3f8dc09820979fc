package gogrpc

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
)

// What a programmer writes who wants nothing but the calls: the measure of what
// this package adds to the library.

// bare is a service without a trial around it.
type bare struct{ up, down any }

func (b *bare) serve(t testing.TB) string {
	t.Helper()
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bare.Exchange", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: b.unary}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Talk", Handler: b.talk, ClientStreams: true, ServerStreams: true},
			{StreamName: "Both", Handler: b.both, ClientStreams: true, ServerStreams: true},
		},
	}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// fresh makes an empty message of the kind of another.
func fresh(of any) any {
	if _, text := of.(*netdynov1.Text); text {
		return new(netdynov1.Text)
	}
	return new(netdynov1.Block)
}

func (b *bare) unary(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	return b.down, decode(fresh(b.up))
}

func (b *bare) talk(_ any, stream grpc.ServerStream) error {
	for {
		if err := stream.RecvMsg(fresh(b.up)); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.SendMsg(b.down); err != nil {
			return err
		}
	}
}

func (b *bare) both(_ any, stream grpc.ServerStream) error {
	if err := drain(stream); err != nil {
		return err
	}
	return pour(stream, b.down.(*netdynov1.Block).GetContent())
}

const chunk = 64 << 10

// pour and drain cut and join as our arms do, into a buffer of the stream's own.
func pour(to stream, content []byte) error {
	for len(content) > 0 {
		n := min(chunk, len(content))
		if err := to.SendMsg(&netdynov1.Block{Content: content[:n]}); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

func drain(from stream) error {
	for {
		var block netdynov1.Block
		if err := from.RecvMsg(&block); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// call returns a client's exchange by one of the three methods.
func (b *bare) call(t testing.TB, method string) load.Call {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+b.serve(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	full := "/bare.Exchange/" + method
	switch ctx := context.Background(); method {
	case "Unary":
		return func() (int64, error) { return 0, cc.Invoke(ctx, full, b.up, fresh(b.down)) }
	case "Talk":
		s, err := cc.NewStream(ctx, &streamCallDesc, full)
		if err != nil {
			t.Fatal(err)
		}
		return func() (int64, error) { return 0, errors.Join(s.SendMsg(b.up), s.RecvMsg(fresh(b.down))) }
	default:
		return func() (int64, error) {
			s, err := cc.NewStream(ctx, &streamCallDesc, full)
			if err != nil {
				return 0, err
			}
			return 0, errors.Join(pour(s, b.up.(*netdynov1.Block).GetContent()), s.CloseSend(), drain(s))
		}
	}
}

// twin is an exchange made by our ends and the same by bare ones.
type twin struct {
	name     string
	method   string // of bare
	exchange contract.Exchange
	options  map[string]any
}

var twins = []twin{
	{"unary 100 B", "Unary", contract.Exchange{UpBytes: 100, DownBytes: 100}, nil},
	{"unary 64 KiB", "Unary", contract.Exchange{UpBytes: 1, DownBytes: 64 << 10}, nil},
	{"stream 100 B", "Talk", contract.Exchange{UpBytes: 100, DownBytes: 100}, map[string]any{"mode": "stream"}},
	{"chunks 128 KiB", "Both", contract.Exchange{UpBytes: 128 << 10, DownBytes: 128 << 10, Stream: contract.StreamBoth, ChunkBytes: chunk}, nil},
	{"message simple", "Unary", workertest.Message("proto", "simple"), nil},
}

func (w twin) bare(t testing.TB) load.Call {
	b := &bare{&netdynov1.Block{Content: make([]byte, w.exchange.UpBytes)}, &netdynov1.Block{Content: make([]byte, w.exchange.DownBytes)}}
	if w.exchange.Codec != "" {
		b = &bare{&netdynov1.Text{Text: workertest.Question}, &netdynov1.Text{Text: workertest.Answer}}
	}
	return b.call(t, w.method)
}

// ours is a slot's exchange with everything that a load does around it.
func (w twin) ours(t testing.TB) load.Call {
	t.Helper()
	transport, setup := Transport{Codecs: codec.Standard()}, contract.Setup{Exchange: w.exchange, Options: w.options}
	s := workertest.Server(t, transport, setup)
	setup = workertest.ClientSetup(t, transport, setup, s.Ready().Addresses[0])
	c, err := transport.client(setup)
	if err != nil {
		t.Fatal(err)
	}
	workertest.Open(t, c)
	return workertest.Loaded(t, setup, c.call(0, new(load.Slot)))
}

// Beside what the library allocates an exchange may cost nothing. AllocsPerRun
// rounds, and the library's own timers and window updates fall into either
// side, so the least of several is compared, and one more is let pass. A
// collection would empty the library's pools on one side more than on the other.
func TestNothingIsAllocatedBesideTheLibrary(t *testing.T) {
	workertest.CountsAllocations(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, w := range twins {
		t.Run(w.name, func(t *testing.T) {
			least := func(call load.Call) float64 {
				count := func() float64 {
					return testing.AllocsPerRun(50, func() {
						if _, err := call(); err != nil {
							t.Fatal(err)
						}
					})
				}
				return min(count(), count(), count())
			}
			a, b := w.ours(t), w.bare(t)
			ours, bare := least(a), least(b)
			for more := 0; ours > bare+1 && more < 50; more++ { // a busy machine parts the library's messages otherwise
				ours, bare = min(ours, least(a)), max(bare, least(b))
			}
			if ours > bare+1 {
				t.Errorf("%.0f allocations in an exchange, the library alone makes %.0f", ours, bare)
			}
			t.Logf("%.0f allocations, the library alone %.0f", ours, bare)
		})
	}
}
