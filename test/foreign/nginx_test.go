package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/programs"
)

// nginx returns the command of an nginx that serves 4 MiB at /block and a kilobyte
// at /small.
func nginx(t *testing.T, port string) []string {
	t.Helper()
	directory := t.TempDir()
	for name, size := range map[string]int{"block": block, "small": 1 << 10} {
		if err := os.WriteFile(filepath.Join(directory, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	argv, err := programs.Nginx{
		Own: directory, Root: directory, Listen: "127.0.0.1:" + port, HTTP: "sendfile on; keepalive_requests 1000000;",
	}.Command()
	if err != nil {
		t.Fatal(err)
	}
	return argv
}

// Our clients of HTTP/1.1, and how a study asks them for a file of nginx.
func fromNginx(client, path, size string, more ...string) []string {
	return append([]string{
		"client=" + client, "opt.server.wire=http/1.1", "opt.client.path=" + path, "opt.client.verify=length",
		"request=0B", "response=" + size, "amount=20",
	}, more...)
}

// Transport exec starts nginx, the meter charges its master and its worker, and
// our clients drive it.
func TestNginxByExec(t *testing.T) {
	for _, client := range []string{"go-http1", "fasthttp", "http1-uring"} {
		t.Run(client, func(t *testing.T) {
			need(t, []string{"nginx"}, "exec", client)
			port := freePort(t)
			r := trial(t, fromNginx(client, "/block", "4MiB", "server=exec", "opt.server.port="+port,
				"opt.server.command="+strings.Join(nginx(t, port), " "))...)
			completed(t, r, 40)
			server := r.Workers[0]
			if server.Role != contract.Server || !server.Ready.Foreign || server.Ready.Elsewhere {
				t.Fatalf("the server's part is %+v, want a foreign program that is ours", server.Ready)
			}
			if n := server.Close.Meter.Process.Processes; n < 3 { // the worker, nginx's master and its own
				t.Errorf("the meter saw %d processes, want at least 3", n)
			}
			if used := server.Close.Meter.Process.CPUNs - server.Open.Meter.Process.CPUNs; used <= 0 {
				t.Errorf("160 MiB cost the server %d ns of CPU", used)
			}
		})
	}
}

// Transport address finds an nginx that runs already; what it costs is unknown.
func TestNginxByAddress(t *testing.T) {
	need(t, []string{"nginx"}, "address")
	port := freePort(t)
	programs.Start(t, "127.0.0.1:"+port, nginx(t, port)...)
	at := "opt.server.address=127.0.0.1:" + port
	for _, client := range []string{"go-http1", "http1-uring"} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, client)
			r := trial(t, fromNginx(client, "/small", "1KiB", "server=address", at)...)
			completed(t, r, 40)
			if !r.Workers[0].Ready.Elsewhere {
				t.Errorf("the server's part is %+v, want one that is elsewhere", r.Workers[0].Ready)
			}
		})
	}
}

func TestNothingListens(t *testing.T) {
	need(t, nil, "address", "go-http1")
	r := trial(t, fromNginx("go-http1", "/", "1KiB", "server=address", "opt.server.address=127.0.0.1:"+freePort(t))...)
	failed(t, r, contract.Peer, "nothing listens there; start the server first")
}

// failed demands a trial that failed for that reason.
func failed(t *testing.T, r record.Record, kind contract.ErrorKind, want string) {
	t.Helper()
	if r.Outcome != record.Failed || r.Failure.Kind != kind || !strings.Contains(r.Failure.Text, want) {
		t.Errorf("the trial is %s: %+v; want it failed (%s): %s", r.Outcome, r.Failure, kind, want)
	}
}
