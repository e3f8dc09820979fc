package tool_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker/workertest"
)

var pingPongPairs = []struct {
	name, server, client string
	of                   tool.Transport
}{
	{"muduo", "pingpong_server", "pingpong_client", tool.Muduo()},
	{"evpp", "benchmark_pingpong_server", "benchmark_pingpong_client", tool.Evpp()},
}

func pingPong(name string, role contract.Role) contract.Setup {
	return contract.Setup{
		Transport: name, Role: role, Listen: "127.0.0.1:0", Threads: 1, WindowNs: int64(time.Second),
		Exchange: contract.Exchange{UpBytes: 16 << 10, DownBytes: 16 << 10}, Load: contract.Load{Connections: 3, DrainNs: int64(workertest.Timeout)},
	}
}

// The published programs, where they are installed, run against each other: what each
// says of itself is what the kernel has seen.
func TestPingPongPairs(t *testing.T) {
	for _, pair := range pingPongPairs {
		t.Run(pair.name, func(t *testing.T) {
			for _, program := range []string{pair.server, pair.client} {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s's %s is not on PATH", pair.name, program)
				}
			}
			server, client := workertest.Start(t, pair.of), workertest.Start(t, pair.of)
			setup := pingPong(pair.name, contract.Client)
			setup.Peers = server.Setup(pingPong(pair.name, contract.Server)).Addresses
			if ready := client.Setup(setup); !ready.Foreign || ready.Connections != 3 || ready.Threads != 1 {
				t.Fatalf("the client's ready is %+v", ready)
			}
			client.Start()
			moving(t, client, 100)
			opening, served := client.Mark(1, true), server.Mark(1, false)
			moving(t, server, served.Counts.Exchanges+100)
			closing := client.Mark(2, false)
			result := client.Stop()
			up, down := result.Counts.SentBytes, result.Counts.ReceivedBytes
			if up != closing.Counts.SentBytes-opening.Counts.SentBytes || down != closing.Counts.ReceivedBytes-opening.Counts.ReceivedBytes {
				t.Errorf("the result's %+v are not what lies between %+v and %+v", result.Counts, opening.Counts, closing.Counts)
			}
			if n := (up + down) / (32 << 10); result.Counts.Exchanges != n || n == 0 {
				t.Errorf("%d exchanges of %d bytes up and %d down, want %d", result.Counts.Exchanges, up, down, n)
			}
			if own := result.Own; own["received_bytes"] < float64(closing.Counts.ReceivedBytes) || own["messages"] <= 0 || own["received_bytes_per_s"] <= 0 {
				t.Errorf("it says of itself %v, and had %d bytes when the window closed", own, closing.Counts.ReceivedBytes)
			}
			server.Stop()
		})
	}
}

// A load that a pair cannot carry makes an empty cell with its reason, and so does a pair
// that is not installed.
func TestPingPongRefuses(t *testing.T) {
	for _, pair := range pingPongPairs {
		for _, program := range []string{pair.server, pair.client} {
			pretend(t, program, "echo started >&2; exit 1") // who refuses starts nothing
		}
		for _, c := range []struct {
			change func(*contract.Setup)
			want   string
		}{
			{func(s *contract.Setup) { s.Exchange.DownBytes = 1 }, "returns what it sends"},
			{func(s *contract.Setup) { s.Exchange.UpBytes, s.Exchange.DownBytes = 0, 0 }, "expected both equal, and at least 1"},
			{func(s *contract.Setup) { s.Load.InFlight = 2 }, "one block in flight on each connection (in_flight is 2)"},
			{func(s *contract.Setup) { s.Load.Rate = 10 }, "keeps no schedule"},
			{func(s *contract.Setup) { s.Exchange.Stream = contract.StreamUp }, "does not have feature stream-up"},
			{func(s *contract.Setup) { s.Options = map[string]any{"program": "no-such-program"} }, "no-such-program is not installed: make " + pair.server + " " + pair.client},
		} {
			setup := pingPong(pair.name, contract.Client)
			setup.Peers = []string{"127.0.0.1:1"}
			c.change(&setup)
			refused(t, pair.of, setup, contract.Unsupported, c.want)
		}
	}
}

// A client that ends without its report, or whose report is less than what the kernel
// delivered to it, is not believed. The programs are a test's own, no muduo.
func TestPingPongClientIsNotBelieved(t *testing.T) {
	server := workertest.Serve(t, func(conn net.Conn) {
		block := make([]byte, 64<<10)
		for {
			n, err := conn.Read(block)
			if err != nil {
				return
			}
			if _, err := conn.Write(block[:n]); err != nil {
				return
			}
		}
	})
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	// It moves 64 MiB to and fro and stays connected until its time is over.
	const client = `exec python3 -c '
import socket, sys, time
host, port, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[6])
end = time.monotonic() + seconds
s = socket.create_connection((host, port))
for _ in range(1024):
    s.sendall(b"x" * 65536)
    left = 65536
    while left:
        left -= len(s.recv(left))
print(sys.argv[7], flush=True)
time.sleep(max(0, end - time.monotonic()))' "$@" `
	for _, c := range []struct{ name, says, want string }{
		{"no report", "stop", `no line says "total bytes read"`},
		{"half of it", "1 total bytes read\n1 total messages read\n1 MiB/s throughput", "reports that it sent 1 bytes, but the kernel counted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pretend(t, "pingpong_client", client+"'"+c.says+"'")
			b := workertest.Start(t, tool.Muduo())
			setup := pingPong("muduo", contract.Client)
			setup.Peers, setup.Load.Connections = []string{server}, 1
			b.Setup(setup)
			b.Start()
			moving(t, b, 64<<20/(16<<10)) // all of it
			b.Mark(1, true)
			b.Mark(2, false)
			b.Send(contract.Message{Stop: &contract.Stop{}})
			if got := b.Expect("error").Error; got.Kind != contract.Invalid || !strings.Contains(got.Text, c.want) {
				t.Errorf("%+v, want a fatal invalid that says %q", got, c.want)
			}
		})
	}
}
