package native_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/traffic"
	"netdyno/internal/work/load"
)

// mixed is an exchange with its classes: small and large ones, of which HTTP asks in its own
// ways. echo: both sizes are alike.
func mixed(echo bool) (contract.Exchange, []contract.Class) {
	up := contract.Table{{contract.TableEnd, 1, 2000}}
	classes := []contract.Class{
		{Name: "browse", End: 2 << 30, UpBytes: 0, DownBytes: 400, Method: "GET", Path: "/items/{key}?again={key}"},
		{Name: "buy", End: 3 << 30, UpBytes: 2000, UpSizes: up, DownBytes: 20, Method: "POST", Path: "/orders", Status: 200},
		{Name: "export", End: contract.TableEnd, UpBytes: 0, DownBytes: 150_000},
	}
	if echo {
		for i, bytes := range []int64{100, 2000, 150_000} {
			classes[i].UpBytes, classes[i].DownBytes = bytes, bytes
		}
		classes[1].UpSizes = nil
	}
	most := contract.Exchange{DownBytes: 150_000, DownSizes: contract.Table{{contract.TableEnd, 0, 150_000}}}
	for _, c := range classes {
		most.UpBytes = max(most.UpBytes, c.UpBytes)
	}
	most.UpSizes = contract.Table{{contract.TableEnd, 0, most.UpBytes}}
	if echo {
		most.UpSizes = contract.Table{{contract.TableEnd, 1, 150_000}}
		most.DownSizes = most.UpSizes
	}
	return most, classes
}

// mixing lists ends by their wires: those in C++, and those of somebody else that they meet.
var mixing = []struct {
	name         string
	ours, theirs []string
	inFlight     int
}{
	{"echo", []string{"uring", "asio", "libevent", "threads"}, []string{"go-net"}, 1},
	{"pipelined echo", []string{"uring", "asio"}, []string{"go-net"}, 4},
	{"http/1.1", nativeHTTP, []string{"go-http1"}, 1},
	{"http/2", nativeH2, []string{"go-http2"}, 4},
	{"grpc", []string{"grpc-nghttp2", "grpcpp"}, []string{"go-grpc"}, 4},
}

// Clients in C++ send the classes that the seed says, to servers in C++ and in Go, and count
// each by itself; Go's clients do to servers in C++.
func TestMixes(t *testing.T) {
	for _, c := range mixing {
		x, classes := mixed(strings.HasSuffix(c.name, "echo"))
		for i, ours := range c.ours {
			ends := [][2]string{{c.ours[(i+1)%len(c.ours)], ours}}
			for _, theirs := range c.theirs {
				ends = append(ends, [2]string{theirs, ours}, [2]string{ours, theirs})
			}
			for _, e := range ends {
				t.Run(fmt.Sprintf("%s/%s to %s", c.name, e[1], e[0]), func(t *testing.T) {
					t.Parallel()
					trial{server: e[0], client: e[1], exchange: x, load: contract.Load{
						Connections: 3, InFlight: c.inFlight, Amount: 80, Classes: classes,
						Keys: contract.Table{{contract.TableEnd, 1, 1000}},
					}}.mixes(t)
				})
			}
		}
	}
}

// mixes runs the amount and compares each class and each size with what the seed says.
func (p trial) mixes(t *testing.T) {
	t.Helper()
	_, client := p.connect(t)
	_, setup := p.setups()
	client.mark(1, true)
	client.send(contract.Message{Start: &contract.Start{}})
	r := client.expect("result").Result
	draws, err := load.DrawsOf(setup)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]contract.ClassResult, len(p.load.Classes))
	bins := map[int64]int64{}
	n := p.load.Amount * int64(p.load.Connections)
	for i := range uint64(n) {
		x := draws.Of(i)
		of := &want[x.Class]
		of.Exchanges++
		of.SentBytes += x.Up
		if echoes(p.exchange) {
			x.Down = x.Up
		}
		of.ReceivedBytes += x.Down
		from := int64(0)
		for at := int64(64); at <= max(x.Up, x.Down); at *= 4 {
			from = at
		}
		bins[from]++
	}
	if r.Counts.Exchanges != n || len(r.Counts.Errors) > 0 || len(r.Classes) != len(want) {
		t.Fatalf("the client counts %+v in %d classes, want %d; reasons %+v", r.Counts, len(r.Classes), n, r.Reasons)
	}
	for i, got := range r.Classes {
		times, err := hist.Decode(got.Service)
		if err != nil || times.Count() != want[i].Exchanges {
			t.Errorf("class %s has %d times, want %d (%v)", got.Name, times.Count(), want[i].Exchanges, err)
		}
		want[i].Name, got.Service = p.load.Classes[i].Name, ""
		if got != want[i] {
			t.Errorf("class %+v, want %+v", got, want[i])
		}
	}
	for _, bin := range r.Bins {
		times, err := hist.Decode(bin.Service)
		if err != nil || times.Count() != bins[bin.FromBytes] {
			t.Errorf("from %d B on %d times, want %d (%v)", bin.FromBytes, times.Count(), bins[bin.FromBytes], err)
		}
		delete(bins, bin.FromBytes)
	}
	if len(bins) > 0 {
		t.Errorf("no times of the sizes from %v on", bins)
	}
}

// recorded writes recorded traffic: requests every 250 µs, each of the classes in turn.
func recorded(t *testing.T, requests int) (trace *contract.Trace, at []traffic.Request) {
	t.Helper()
	var blocks, whole bytes.Buffer
	w := traffic.NewWriter(&blocks)
	for i := range requests {
		r := traffic.Request{AtNs: int64(i) * 250_000, Class: i % 3, Up: int64(i % 100), Down: 100 + int64(i%7)*1000, Path: i%3 - 1}
		at = append(at, r)
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	const header = "traffic: 1\n"
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := traffic.Assemble(&whole, header, []string{"/a", "/b?c=d"}, &blocks); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "traffic.rec")
	if err := os.WriteFile(name, whole.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &contract.Trace{File: name, Begins: int64(len(header) + len("...\n")), Speed: 2}, at
}

// Recorded traffic goes out request by request, whichever slot is free.
func TestReplays(t *testing.T) {
	for _, c := range mixing {
		for i, ours := range c.ours {
			for _, server := range []string{c.ours[(i+1)%len(c.ours)], c.theirs[0]} {
				t.Run(fmt.Sprintf("%s/%s to %s", c.name, ours, server), func(t *testing.T) {
					t.Parallel()
					trace, at := recorded(t, 1000)
					echo := strings.HasSuffix(c.name, "echo")
					x, classes := mixed(echo)
					trace.Even = echo
					const amount = 70
					p := trial{server: server, client: ours, exchange: x, load: contract.Load{
						Connections: 2, InFlight: c.inFlight, Amount: amount, Rate: 8000, Arrival: contract.Recorded,
						Classes: classes, Trace: trace,
					}}
					_, client := p.connect(t)
					client.mark(1, true)
					client.send(contract.Message{Start: &contract.Start{}})
					r := client.expect("result").Result
					var up, down int64
					for _, of := range at[:2*amount] {
						if echo {
							of.Up = max(1, of.Up, of.Down)
							of.Down = of.Up
						}
						up, down = up+of.Up, down+of.Down
					}
					if r.Counts.Exchanges != 2*amount || len(r.Counts.Errors) > 0 || r.Counts.SentBytes != up || r.Counts.ReceivedBytes != down {
						t.Errorf("the client counts %+v, want %d exchanges, %d bytes up and %d down; reasons %+v", r.Counts, 2*amount, up, down, r.Reasons)
					}
					if took := r.ToNs - r.FromNs; took < (2*amount-1)*125_000 {
						t.Errorf("the replay took %d ns, less than its requests", took)
					}
				})
			}
		}
	}
}

// A class with a deadline fails where the server takes longer, with the same words in every
// client; the others' exchanges go on.
func TestDeadlines(t *testing.T) {
	const tells = "no reply within the deadline of 20.0 ms"
	for _, c := range mixing[2:] {
		for _, client := range c.ours {
			t.Run(client, func(t *testing.T) {
				t.Parallel()
				x := blocks(0, 100)
				classes := []contract.Class{
					{Name: "patient", End: 2 << 30, DownBytes: 100},
					{Name: "hasty", End: contract.TableEnd, DownBytes: 100, DeadlineNs: 20_000_000},
				}
				p := trial{server: c.theirs[0], client: client, exchange: x, load: contract.Load{
					Connections: 2, InFlight: c.inFlight, Amount: 20, Classes: classes,
				}}
				server := start(t, p.server)
				s, setup := p.setups()
				s.Load = contract.Load{} // of classes a server is told nothing
				s.Seed, s.Work = 5, &contract.Work{By: contract.WorkSleep, Ns: contract.Table{{2 << 30, 0, 0}, {contract.TableEnd, 60_000_000, 60_000_000}}}
				setup.Peers = server.setup(s).Addresses
				other := start(t, client)
				other.setup(setup)
				other.mark(1, true)
				other.send(contract.Message{Start: &contract.Start{}})
				r := other.expect("result").Result
				late := r.Counts.Errors[contract.Timeout]
				if late == 0 || r.Counts.Exchanges+late != 40 || len(r.Counts.Errors) != 1 {
					t.Errorf("counts %+v, want some late ones and 40 in all", r.Counts)
				}
				if len(r.Reasons) != 1 || r.Reasons[0].Text != tells || r.Reasons[0].Count != late {
					t.Errorf("reasons %+v, want %q alone", r.Reasons, tells)
				}
				if patient, hasty := r.Classes[0], r.Classes[1]; patient.Errors != 0 || hasty.Errors != late || hasty.Exchanges == 0 {
					t.Errorf("classes %+v, want all late ones in the hasty one", r.Classes)
				}
			})
		}
	}
}
