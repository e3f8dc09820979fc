package lab_test

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"netdyno/test/lab"
)

func TestSSH(t *testing.T) {
	l := lab.Hosts(t, 3)
	s := l.SSH(t)
	ssh := func(argv ...string) *exec.Cmd {
		return l.Command(0, append([]string{"ssh", "-F", s.Config}, argv...)...)
	}
	code := func(cmd *exec.Cmd) int {
		_ = cmd.Run() // how it ended is in its state
		return cmd.ProcessState.ExitCode()
	}
	if got := output(t, ssh("node2", "hostname")); got != "node2" {
		t.Errorf("ssh node2 hostname says %q, want node2 and nothing else", got)
	}
	if got := output(t, l.Command(1, "ssh", "node3", "hostname")); got != "node3" {
		t.Errorf("ssh node3 hostname, without -F and from node1, says %q, want node3", got)
	}
	if got := code(ssh("node3", "exit 7")); got != 7 {
		t.Errorf("ssh node3 'exit 7' exits with %d, want 7", got)
	}

	// A session dies with its sshd; what it started may live on.
	session := ssh("node1", "echo ready; sleep 600")
	stdout, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready"))
	if _, err := io.ReadFull(stdout, ready); err != nil || string(ready) != "ready" {
		t.Errorf("the session says %q, %v, want ready", ready, err)
	}
	s.Kill(t, 1)
	if exit, ended := errors.AsType[*exec.ExitError](session.Wait()); !ended || exit.ExitCode() != 255 {
		t.Errorf("the killed sshd's client ends with %v, want 255", exit)
	}
	for _, p := range l.Processes(t, 1) {
		if strings.Contains(p.Argv[0], "sshd") {
			t.Errorf("%v is left on node1", p)
		}
	}
	if got := code(ssh("node1", "true")); got != 255 {
		t.Errorf("ssh to a host without sshd exits with %d, want 255", got)
	}
	s.Start(t, 1)
	if got := output(t, ssh("node1", "hostname")); got != "node1" {
		t.Errorf("ssh node1 hostname says %q after the restart, want node1", got)
	}
}
