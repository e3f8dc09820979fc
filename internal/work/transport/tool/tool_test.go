package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker/workertest"
)

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: `make packages-test` installs it", program)
	}
}

func bulk(transport string, role contract.Role, stream contract.Stream) contract.Setup {
	return contract.Setup{
		Transport: transport, Role: role, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 10_000, DownBytes: 10_000, Stream: stream, ChunkBytes: 16 << 10},
	}
}

// Three connections to two servers, every direction: what the client's kernel
// says is what the server's says, and the program agrees.
func TestBulkTools(t *testing.T) {
	for _, pair := range []struct {
		program string
		of      tool.Transport
	}{{"iperf3", tool.Iperf3()}, {"iperf", tool.Iperf2()}} {
		for _, stream := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
			name := pair.of.Describe().Name
			t.Run(name+"-"+string(stream), func(t *testing.T) {
				needs(t, pair.program)
				server, client := workertest.Start(t, pair.of), workertest.Start(t, pair.of)
				setup := bulk(name, contract.Server, stream)
				setup.Listeners = 2
				listening := server.Setup(setup)
				if len(listening.Addresses) != 2 || listening.Foreign || listening.Options["version"] == nil {
					t.Fatalf("the server's ready is %+v", listening)
				}
				setup = bulk(name, contract.Client, stream)
				setup.Peers, setup.Sources, setup.Load.Connections = listening.Addresses, []string{"127.0.0.1"}, 3
				if ready := client.Setup(setup); !ready.Foreign || ready.Connections != 3 || ready.Verified != 0 {
					t.Fatalf("the client's ready is %+v", ready)
				}
				client.Start()
				carry(t, server, client, stream)
			})
		}
	}
}

// carry takes a load under way through its window and compares the ends.
func carry(t *testing.T, server, client *workertest.Bench, stream contract.Stream) {
	t.Helper()
	moving(t, client, 1)
	opening := client.Mark(1, true)
	time.Sleep(300 * time.Millisecond)
	closing, served := client.Mark(2, false), server.Mark(2, false)
	result := client.Stop()
	if late := server.Stop(); late.Counts.SentBytes < served.Counts.SentBytes || late.Counts.ReceivedBytes < served.Counts.ReceivedBytes {
		t.Errorf("the server's counts fell from %+v to %+v when its connections ended", served.Counts, late.Counts)
	}

	up, down := result.Counts.SentBytes, result.Counts.ReceivedBytes
	if up != closing.Counts.SentBytes-opening.Counts.SentBytes || down != closing.Counts.ReceivedBytes-opening.Counts.ReceivedBytes {
		t.Errorf("the result's %+v are not what lies between %+v and %+v", result.Counts, opening.Counts, closing.Counts)
	}
	if result.ToNs <= result.FromNs || result.Service != "" || result.Drained != 0 {
		t.Errorf("the result is %+v", result)
	}
	want := up / 10_000
	switch stream {
	case contract.StreamDown:
		want = down / 10_000
	case contract.StreamBoth:
		want = (up + down) / 20_000
	}
	if result.Counts.Exchanges != want || want == 0 {
		t.Errorf("%d exchanges of %d bytes up and %d down, want %d", result.Counts.Exchanges, up, down, want)
	}
	// Cookies and control are a few hundred bytes; what the clients' kernels had
	// not yet heard of is more at the server.
	const small = 10_000
	if stream != contract.StreamDown && (up == 0 || served.Counts.ReceivedBytes < closing.Counts.SentBytes-small || result.Own["sent_bytes_per_s"] <= 0) {
		t.Errorf("the client sent %d, the server received %d; it says %v", closing.Counts.SentBytes, served.Counts.ReceivedBytes, result.Own)
	}
	if stream != contract.StreamUp && (down == 0 || served.Counts.SentBytes < opening.Counts.ReceivedBytes-small || result.Own["received_bytes_per_s"] <= 0) {
		t.Errorf("the client received %d, the server sent %d; it says %v", opening.Counts.ReceivedBytes, served.Counts.SentBytes, result.Own)
	}
}

// moving waits until a client has carried so many exchanges.
func moving(t *testing.T, client *workertest.Bench, exchanges int64) {
	t.Helper()
	for deadline := time.Now().Add(workertest.Timeout); client.Mark(0, false).Counts.Exchanges < exchanges; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing moves")
		}
	}
}

// A round trip is in the histogram exactly when its log says that it came back
// in the window. The program takes 5 s until it is ready.
func TestSockperf(t *testing.T) {
	needs(t, "sockperf")
	if testing.Short() {
		t.Skip("-short: sockperf takes 5 s until it is ready")
	}
	server, client := workertest.Start(t, tool.Sockperf()), workertest.Start(t, tool.Sockperf())
	setup := contract.Setup{
		Transport: "sockperf", Role: contract.Server, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100},
	}
	setup.Peers = server.Setup(setup).Addresses
	setup.Role, setup.Load.Connections = contract.Client, 1
	client.Setup(setup)
	before := client.Mark(0, false).Counts
	time.Sleep(100 * time.Millisecond)
	// The one round trip that was under way when it was stopped may come back late.
	if idle := client.Mark(0, false).Counts; idle.Exchanges > 1 || before.Exchanges > 1 || idle.Connections != 1 {
		t.Errorf("ready and silent, it counts %+v and then %+v", before, idle)
	}
	client.Start()
	moving(t, client, 100)
	started := client.Mark(0, false).Counts.Exchanges
	client.Mark(1, true)
	opened := server.Mark(0, false).Counts.Exchanges
	moving(t, server, opened+1000)
	closing := server.Mark(0, false).Counts.Exchanges
	closed := client.Mark(2, false).Counts.Exchanges
	result := client.Stop()
	service, err := hist.Decode(result.Service)
	if err != nil || service.Count() != result.Counts.Exchanges {
		t.Fatalf("%d exchanges with %d times, %v", result.Counts.Exchanges, service.Count(), err)
	}
	// However long a busy machine takes between them, the server's readings lie inside
	// the window and the client's around it, each within the one message in flight.
	const ends = 2
	if got, least, most := result.Counts.Exchanges, closing-opened-ends, closed-started+ends; got < least || got > most {
		t.Errorf("%d exchanges by the log; %d inside the window by the server's kernel, %d around it by the client's", got, least+ends, most-ends)
	}
	if result.Own["round_trip_mean_us"] <= 0 || result.Counts.SentBytes != 100*result.Counts.Exchanges {
		t.Errorf("the result is %+v", result)
	}
	server.Stop()
}

// What such a program cannot do is an empty cell with its reason.
func TestToolsRefuse(t *testing.T) {
	for _, p := range []string{"iperf3", "iperf", "sockperf"} {
		pretend(t, p, "echo started >&2; exit 1") // who refuses starts nothing
	}
	pingPong := func(s *contract.Setup) { s.Exchange = contract.Exchange{UpBytes: 100, DownBytes: 100} }
	for _, c := range []struct {
		of     tool.Transport
		change func(*contract.Setup)
		want   string
		kind   contract.ErrorKind
	}{
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.Rate = 10 }, "keeps no schedule", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.ThinkNs = 10 }, "does not pause", contract.Unsupported},
		{tool.Sockperf(), func(s *contract.Setup) { pingPong(s); s.Load.InFlight = 2 }, "in_flight is 2", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.Amount = 9 }, "amount is 9", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.ActiveShare = 0.5 }, "active is 0.5", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.Fresh = true }, "does not have feature fresh", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Exchange.Codec = "json" }, "encodes no message", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.TLS = &contract.TLS{} }, "does not have feature tls", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Exchange.Stream = "" }, "expected stream up, down or both", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Exchange.ChunkBytes = 2 << 20 }, "at most 1048576 bytes at once", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Exchange.UpBytes = 0 }, "expected at least 1", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Threads = 4 }, "works in 1 threads here", contract.Unsupported},
		{tool.Iperf2(), func(s *contract.Setup) { s.Threads = 4 }, "works in 2 threads here", contract.Unsupported},
		{tool.Sockperf(), func(*contract.Setup) {}, "does not have feature stream-up", contract.Unsupported},
		{tool.Sockperf(), pingPong, "on one connection (connections is 2)", contract.Unsupported},
		{tool.Sockperf(), func(s *contract.Setup) { pingPong(s); s.Exchange.DownBytes = 50 }, "returns what it sends", contract.Unsupported},
		{tool.Sockperf(), func(s *contract.Setup) {
			pingPong(s)
			s.Load.Connections, s.Exchange.UpBytes, s.Exchange.DownBytes = 1, 9, 9
		}, "14 to 65507", contract.Unsupported},
		{tool.Iperf3(), func(s *contract.Setup) { s.Load.Connections = 0 }, "load.connections is 0", contract.SetupFailed},
		{tool.Iperf3(), func(s *contract.Setup) { s.Peers = nil }, "setup.peers is empty", contract.SetupFailed},
		{tool.Iperf3(), func(s *contract.Setup) { s.Peers = []string{"127.0.0.1:http"} }, "expected a number", contract.SetupFailed},
		{tool.Iperf3(), func(s *contract.Setup) { s.Options = map[string]any{"args": "-w '64K"} }, "option args: the quote", contract.SetupFailed},
		{tool.Iperf3(), func(s *contract.Setup) { s.Options = map[string]any{"zerocopi": true} }, "did you mean \"zerocopy\"", contract.SetupFailed},
		{tool.Iperf3(), func(s *contract.Setup) { s.Role, s.Listeners = contract.Server, 100 }, "at most 64", contract.Unsupported},
	} {
		setup := bulk(c.of.Describe().Name, contract.Client, contract.StreamUp)
		setup.Peers, setup.Load.Connections = []string{"127.0.0.1:1"}, 2
		c.change(&setup)
		refused(t, c.of, setup, c.kind, c.want)
	}
}

func refused(t *testing.T, of tool.Transport, setup contract.Setup, kind contract.ErrorKind, want string) {
	t.Helper()
	b := workertest.Start(t, of)
	b.Send(contract.Message{Setup: &setup})
	if got := b.Expect("error").Error; got.Kind != kind || !got.Fatal || !strings.Contains(got.Text, want) {
		t.Errorf("%s: %+v, want a fatal %s that says %q", setup.Transport, got, kind, want)
	}
}

func TestProgramMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		refused(t, tool.Iperf3(), bulk("iperf3", role, contract.StreamUp), contract.Unsupported, "iperf3 is not installed: sudo apt-get install iperf3")
		refused(t, tool.Iperf2(), bulk("iperf2", role, contract.StreamUp), contract.Unsupported, "iperf is not installed: sudo apt-get install iperf")
	}
}

// pretend puts a shell script in a program's place.
func pretend(t *testing.T, program, script string) {
	t.Helper()
	directory := t.TempDir()
	text := "#!/bin/sh\n[ \"$1\" = --version ] && echo pretender 1 && exit\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(directory, program), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", directory+":"+os.Getenv("PATH"))
}

// Whatever the client's program does wrong fails the trial and quotes it.
func TestClientProgramFails(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		kind               contract.ErrorKind
	}{
		{"exits early", "echo cannot think >&2; exit 3", `ended before the load did: exit status 3; it said: "cannot think"`, contract.Peer},
		{"is killed", "echo so far so good >&2; sleep 0.3; kill -KILL $$", `ended before the load did: signal: killed; it said: "so far so good"`, contract.Peer},
		{"prints something else", "trap 'kill $!; echo 12 Gbit/s; exit 0' INT; sleep 60 & wait", `read iperf3's JSON: invalid character 'G'`, contract.Invalid},
		{"prints too much", "trap 'kill $!; yes | head -c 5000000; exit 0' INT; sleep 60 & wait", "it printed more than 4194304 bytes", contract.Invalid},
		{"does not end", "trap '' INT; echo busy >&2; exec sleep 60", `did not end in time after its interruption; it said: "busy"`, contract.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			pretend(t, "iperf3", c.script)
			b := workertest.Start(t, tool.Iperf3())
			setup := bulk("iperf3", contract.Client, contract.StreamUp)
			setup.Peers, setup.Load = []string{"127.0.0.1:1"}, contract.Load{Connections: 1, DrainNs: int64(time.Second)}
			b.Setup(setup)
			b.Start()
			b.Mark(1, true)
			time.Sleep(100 * time.Millisecond)
			if c.kind != contract.Peer { // those end by themselves
				b.Send(contract.Message{Stop: &contract.Stop{}})
			}
			if got := b.Expect("error").Error; got.Kind != c.kind || !got.Fatal || !strings.Contains(got.Text, c.want) {
				t.Errorf("%+v, want a fatal %s that says %q", got, c.kind, c.want)
			}
		})
	}
}

// A program that moved less than the kernel delivered for it is not believed.
func TestProgramThatLies(t *testing.T) {
	needs(t, "iperf3")
	installed, err := exec.LookPath("iperf3")
	if err != nil {
		t.Fatal(err)
	}
	server := workertest.Start(t, tool.Iperf3())
	peers := server.Setup(bulk("iperf3", contract.Server, contract.StreamUp)).Addresses
	// It says nothing of itself; another program in its place does.
	pretend(t, "iperf3", `echo '{"end":{"sum_sent":{"seconds":1,"bytes":7,"sender":true}}}'; exec `+installed+` "$@" >/dev/null`)
	client := workertest.Start(t, tool.Iperf3())
	setup := bulk("iperf3", contract.Client, contract.StreamUp)
	setup.Peers, setup.Load.Connections = peers, 1
	client.Setup(setup)
	client.Start()
	moving(t, client, 32<<20/10_000)
	client.Mark(1, true)
	client.Send(contract.Message{Stop: &contract.Stop{}})
	if got := client.Expect("error").Error; got.Kind != contract.Invalid || !strings.Contains(got.Text, "reports that it sent 7 bytes, but the kernel counted") {
		t.Errorf("%+v", got)
	}
}

// A program that must be under way before the trial can begin.
func TestProgramThatNeverBegins(t *testing.T) {
	pretend(t, "sockperf", "echo where are you >&2; exit 4")
	setup := contract.Setup{
		Transport: "sockperf", Role: contract.Client, Peers: []string{"127.0.0.1:1"},
		Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100}, Load: contract.Load{Connections: 1},
	}
	refused(t, tool.Sockperf(), setup, contract.Peer, `ended before it was ready: exit status 4; it said: "where are you"`)
}

// Whatever the server's program does wrong, or the peer of a real client.
func TestServerProgramFails(t *testing.T) {
	pretend(t, "iperf3", "echo no such port >&2; exit 2")
	refused(t, tool.Iperf3(), bulk("iperf3", contract.Server, contract.StreamUp), contract.SetupFailed, `ended before it listened on port`)
	refused(t, tool.Iperf3(), bulk("iperf3", contract.Server, contract.StreamUp), contract.SetupFailed, `exit status 2; it said: "no such port"`)
}

// End of input ends the programs, whatever they are doing.
func TestEndOfInputEndsThePrograms(t *testing.T) {
	pretend(t, "iperf3", "trap '' INT; exec sleep 60")
	b := workertest.Start(t, tool.Iperf3())
	setup := bulk("iperf3", contract.Client, contract.StreamUp)
	setup.Peers, setup.Load.Connections = []string{"127.0.0.1:1"}, 1
	b.Setup(setup)
	b.Start()
	b.Mark(1, true)
	if code := b.End(); code != 0 {
		t.Errorf("the worker ended with status %d", code)
	}
}
