package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Every operation carries what both ends count alike, over TCP and through shared
// memory. Workers wait for events, so that they leave the CPUs to the other tests.
func TestUcxOperations(t *testing.T) {
	for _, tls := range []string{"tcp", "shm"} {
		for _, operation := range []string{"tag", "stream", "put", "get"} {
			t.Run(operation+" over "+tls, func(t *testing.T) {
				trial{
					server: "ucx", client: "ucx",
					// Longer than what any transport of UCX sends at once, and not whole chunks.
					exchange: streamed(contract.StreamBoth, 300_000, 200_000, 64<<10),
					load:     contract.Load{Connections: 2, InFlight: 3, Amount: 10},
					options:  map[string]any{"operation": operation, "tls": tls, "wait": "event"},
				}.run(t)
			})
		}
	}
}

// A client that cannot use the way that it is asked to use says so, and so does a client
// whose server carries messages by another operation.
func TestUcxRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		options map[string]any
		kind    contract.ErrorKind
		says    string
	}{
		"another way":       {map[string]any{"tls": "shm"}, contract.SetupFailed, "option tls shm"},
		"another operation": {map[string]any{"tls": "tcp", "operation": "put"}, contract.SetupFailed, "option operation is put here, and the other end's is tag"},
		"no device":         {map[string]any{"memory": "cuda"}, contract.Unsupported, "option memory asks for a GPU: no CUDA driver"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.kind == contract.Unsupported && hasGPU() {
				t.Skip("this host has a GPU")
			}
			server, client := start(t, "ucx"), start(t, "ucx")
			listening := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 100), Options: map[string]any{"tls": "tcp", "wait": "event"}})
			client.send(contract.Message{Setup: &contract.Setup{
				Transport: "ucx", Role: contract.Client, Peers: listening.Addresses, Exchange: blocks(100, 100),
				Load: contract.Load{Connections: 1}, Options: c.options,
			}})
			if text := client.fatal(c.kind); !strings.Contains(text, c.says) {
				t.Errorf("the client says %q, want %q in it", text, c.says)
			}
		})
	}
}

func hasGPU() bool {
	_, err := os.Stat("/dev/nvidiactl")
	return err == nil
}

// A run's records say what way the messages took: on this host, and between two
// network namespaces, where UCX finds the interface that the rig made.
func TestUcxRun(t *testing.T) {
	worker := program(t, "ucx")
	for rig, by := range map[string]map[string]string{
		"loopback": {contract.PathTCP: "tcp/lo", contract.PathShm: "memory"},
		"netns:2":  {contract.PathTCP: "tcp/nd"},
	} {
		t.Run(rig, func(t *testing.T) {
			if rig != "loopback" && os.Getuid() != 0 {
				t.Skip("namespaces need root")
			}
			dir := filepath.Join(t.TempDir(), "run")
			ways := make([]string, 0, len(by))
			for way := range by {
				ways = append(ways, way)
			}
			run := exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), "run", "transport=ucx", "opt.tls="+strings.Join(ways, ","),
				"opt.wait=event", "connections=2", "stream=up", "request=256KiB", "response=1B", "threads=1", "blocks=1", "warmup=50ms", "window=100ms",
				"--rig", rig, "--out", dir)
			run.Env = append(os.Environ(), "PATH="+filepath.Dir(worker)+":"+os.Getenv("PATH"))
			said, _ := run.CombinedOutput() // a trial that was disturbed is invalid, and the records say the rest
			contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
			if err != nil {
				t.Fatalf("%v; it said: %s", err, said)
			}
			for _, r := range contents.Records {
				if r.Failure != nil {
					t.Fatalf("trial %s failed: %s", r.Trial.ID, r.Failure.Text)
				}
				for _, w := range r.Workers {
					if w.Role != contract.Client {
						continue
					}
					path := w.Ready.Path
					if path == nil || by[path.Over] == "" || !strings.Contains(path.By, by[path.Over]) {
						t.Errorf("trial %s says of its messages' way %+v, want one of %v", r.Trial.ID, path, by)
					}
				}
			}
			if len(contents.Records) <= len(ways) {
				t.Errorf("%d records of %d arms and a baseline; it said: %s", len(contents.Records), len(ways), said)
			}
		})
	}
}
