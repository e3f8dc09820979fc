package tool_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker/workertest"
)

// generators is a transport whose client is a load generator, as exec's is.
type generators struct{}

func (generators) Describe() contract.Transport {
	command := contract.Option{Name: "command", Type: contract.TypeText, Default: "", Doc: "the command line"}
	return contract.Transport{
		Name: "generators", Doc: "load generators", Roles: []contract.Role{contract.Client}, Delivery: contract.DeliveryChunks,
		Options: append(tool.Program{}.Options(), command),
	}
}
func (generators) Server(contract.Setup) (load.Server, error) { panic("it has no server") }
func (generators) Client(setup contract.Setup) (load.Client, error) {
	return tool.Program{}.Client(setup)
}

// counted is an HTTP server that counts its replies.
func counted(t *testing.T, replies *atomic.Int64, body string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		replies.Add(1)
		_, _ = io.WriteString(w, body) // a client that has ended needs none
	})}
	go func() { _ = s.Serve(l) }() // until Close
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// driving is the setup of a load generator.
func driving(server, command string, more map[string]any) contract.Setup {
	options := map[string]any{"command": command}
	for name, value := range more {
		options[name] = value
	}
	return contract.Setup{
		Transport: "generators", Role: contract.Client, Peers: []string{server}, Options: options,
		WarmupNs: int64(300 * time.Millisecond), WindowNs: int64(time.Second),
		Exchange: contract.Exchange{DownBytes: 1000}, Load: contract.Load{Connections: 3},
	}
}

// generator is this test's own program as a load generator.
func generator(t *testing.T, places string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NETDYNO_GENERATOR", "1")
	return self + " -test.run=^TestGeneratorProcess$ -- " + places
}

// TestGeneratorProcess is no test but the program: it asks over some connections for
// some seconds, and says how often it did.
func TestGeneratorProcess(t *testing.T) {
	if os.Getenv("NETDYNO_GENERATOR") != "1" {
		t.Skip("it is started by other tests")
	}
	_, after, _ := strings.Cut(strings.Join(os.Args, " "), " -- ")
	words := strings.Fields(after)
	connections, err := strconv.Atoi(words[1])
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(words[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var done atomic.Int64
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			client := http.Client{Transport: &http.Transport{}}
			for time.Now().Before(until) {
				reply, err := client.Get("http://" + words[0] + "/")
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, reply.Body)
				reply.Body.Close()
				done.Add(1)
			}
		})
	}
	all.Wait()
	fmt.Printf("requests: %d\np99: 2 ms\n", done.Load())
}

// A load generator says only what it did in all. Its exchanges inside the window are
// those that the server answered there.
func TestALoadGeneratorIsCountedInTheWindow(t *testing.T) {
	var replies atomic.Int64
	server := counted(t, &replies, strings.Repeat("x", 1000))
	client := workertest.Start(t, generators{})
	ready := client.Setup(driving(server, generator(t, "{server} {connections} {seconds}"), map[string]any{
		"requests": `regexp:requests: (\d+)`,
	}))
	if !ready.Foreign || ready.Connections != 3 || ready.Verified != 0 {
		t.Errorf("its ready is %+v", ready)
	}
	client.Start()
	for deadline := time.Now().Add(workertest.Timeout); replies.Load() < 30 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	outer := replies.Load()
	client.Mark(1, true)
	inner := replies.Load()            // the window began between the two
	time.Sleep(500 * time.Millisecond) // half of what the program was given: marks take their time
	least := replies.Load() - inner
	client.Mark(2, false)
	most := replies.Load() - outer
	result := client.Stop()
	got := result.Counts
	if slack := most/50 + 10; got.Exchanges < least-slack || got.Exchanges > most+slack {
		t.Errorf("%d exchanges in the window, the server answered %d to %d", got.Exchanges, least, most)
	}
	if got.ReceivedBytes != 1000*got.Exchanges || got.SentBytes != 0 || len(got.Errors) != 0 || result.Service != "" {
		t.Errorf("the result is %+v", result)
	}
	if all := result.Own["exchanges"]; all != float64(replies.Load()) {
		t.Errorf("it says %v, the server answered %d", result.Own, replies.Load())
	}
}

func TestALoadGeneratorThatFailsSaysWhy(t *testing.T) {
	var replies atomic.Int64
	server := counted(t, &replies, "short")
	for name, c := range map[string]struct {
		command string
		more    map[string]any
		kind    contract.ErrorKind
		want    string
	}{
		"ends early":     {"sh -c 'echo the limit is reached >&2; exit 3' {server} {connections}", nil, contract.Peer, `ended before the load did: exit status 3; it said: "the limit is reached"`},
		"says nothing":   {generator(t, "{server} {connections} {seconds}"), map[string]any{"requests": `regexp:calls: (\d+)`}, contract.Invalid, `option requests (regexp:calls: (\d+)): it matches nothing`},
		"small replies":  {generator(t, "{server} {connections} {seconds}"), nil, contract.Invalid, "less than 1000 for each (response)"},
		"another server": {generator(t, "127.0.0.1:1 {connections} {seconds} {server}"), nil, contract.Peer, "ended before the load did"},
	} {
		t.Run(name, func(t *testing.T) {
			more := map[string]any{"requests": `regexp:requests: (\d+)`}
			for key, value := range c.more {
				more[key] = value
			}
			client := workertest.Start(t, generators{})
			setup := driving(server, c.command, more)
			setup.WindowNs = int64(200 * time.Millisecond)
			client.Setup(setup)
			client.Start()
			time.Sleep(200 * time.Millisecond)
			if c.kind == contract.Invalid { // else it has failed by now, and reads no more
				client.Send(contract.Message{Mark: &contract.Mark{ID: 1, Reset: true}})
				client.Send(contract.Message{Mark: &contract.Mark{ID: 2}})
				client.Send(contract.Message{Stop: &contract.Stop{}})
			}
			for {
				m := client.Next()
				if m.Error == nil {
					if m.Result != nil {
						t.Fatalf("it has the result %+v", m.Result)
					}
					continue
				}
				if m.Error.Kind != c.kind || !strings.Contains(m.Error.Text, c.want) {
					t.Errorf("it says %v, want %s: %s", m.Error, c.kind, c.want)
				}
				return
			}
		})
	}
}

func TestALoadGeneratorThatIsNotThere(t *testing.T) {
	client := workertest.Start(t, generators{})
	setup := driving("127.0.0.1:1", "wrkk -c {connections} http://{server}/", map[string]any{"requests": "json:n"})
	client.Send(contract.Message{Setup: &setup})
	if e := client.Next().Error; e == nil || e.Kind != contract.Unsupported || !strings.Contains(e.Text, "wrkk") {
		t.Errorf("it says %v", e)
	}
}
