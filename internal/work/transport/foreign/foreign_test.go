package foreign_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/worker/workertest"
)

func execSetup(command string) contract.Setup {
	return contract.Setup{
		Transport: "exec", Role: contract.Server, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 10, DownBytes: 10}, Options: map[string]any{"command": command, "wait": int64(5e9)},
	}
}

// python listens on the port that is its last argument.
const python = "import socket, sys\ns = socket.create_server(('127.0.0.1', int(sys.argv[-1])))\n"

// Whatever a server of the user's does wrong before it is ready, its last words
// are in the error.
func TestExecRefuses(t *testing.T) {
	for _, c := range []struct {
		command, want string
		kind          contract.ErrorKind
	}{
		{"", "option command is empty", contract.SetupFailed},
		{"no-such-program-here {port}", `start "no-such-program-here"`, contract.Unsupported},
		{"sh -c 'echo no config >&2; exit 3' {port}", `ended before it listened on 127.0.0.1:`, contract.SetupFailed},
		{"sh -c 'echo no config >&2; exit 3' {port}", `exit status 3; it said: "no config"`, contract.SetupFailed},
		{"sh -c 'echo {threads} threads >&2; exit 3' {port}", `it said: "5 threads"`, contract.SetupFailed},
	} {
		b := workertest.Start(t, foreign.Transport{})
		asked := execSetup(c.command)
		asked.Threads = 5
		b.Send(contract.Message{Setup: &asked})
		if got := b.Expect("error").Error; got.Kind != c.kind || !strings.Contains(got.Text, c.want) {
			t.Errorf("%q: %+v, want a fatal %s that says %q", c.command, got, c.kind, c.want)
		}
	}
	setup := execSetup("sh -c 'echo thinking; exec sleep 60' {port}")
	setup.Options["wait"] = int64(2e8)
	b := workertest.Start(t, foreign.Transport{})
	b.Send(contract.Message{Setup: &setup})
	if got := b.Expect("error").Error; !strings.Contains(got.Text, "after 200ms") || !strings.Contains(got.Text, `it said: "thinking"`) {
		t.Errorf("%+v, want that it never listened", got)
	}
}

// A server that ends in the middle of a trial says so itself.
func TestExecDies(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: `make packages-test` installs it")
	}
	b := workertest.Start(t, foreign.Transport{})
	// The first connection is netdyno's own, which looks whether it listens.
	ready := b.Setup(execSetup(`python3 -c "` + python + `[s.accept() for _ in range(2)]; sys.exit('out of ideas')" {port}`))
	conn, err := net.Dial("tcp", ready.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := b.Expect("error").Error
	if got.Kind != contract.Peer || !got.Fatal || !strings.Contains(got.Text, `ended in the trial: exit status 1; it said: "out of ideas"`) {
		t.Errorf("%+v, want a fatal peer that quotes it", got)
	}
}
