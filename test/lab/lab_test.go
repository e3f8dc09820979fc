package lab_test

import (
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"netdyno/test/lab"
)

const (
	// soon is how long a test waits for what must come, on a busy machine too.
	soon = 20 * time.Second

	// silence is how long a test watches for what must not come.
	silence = 300 * time.Millisecond
)

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		var said []byte
		if exit, ended := errors.AsType[*exec.ExitError](err); ended {
			said = exit.Stderr
		}
		t.Fatalf("run %v: %v: %s", cmd.Args, err, said)
	}
	return strings.TrimSpace(string(out))
}

// serve accepts and closes connections on a host.
func serve(t *testing.T, l *lab.Lab, host int) net.Listener {
	t.Helper()
	listener := l.Listen(t, host)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			_ = conn.Close()
		}
	}()
	return listener
}

func TestHostsReachEachOther(t *testing.T) {
	l := lab.Hosts(t, 3)
	for to := 0; to <= l.Size(); to++ {
		server := serve(t, l, to).Addr().String()
		if want := l.Address(to) + ":"; !strings.HasPrefix(server, want) {
			t.Errorf("%s listens at %s, want %s…", l.Name(to), server, want)
		}
		for from := 0; from <= l.Size(); from++ {
			reach(t, l, from, server)
		}
		if conn, err := net.DialTimeout("tcp4", server, silence); err == nil {
			_ = conn.Close()
			t.Errorf("%s was reached from outside the laboratory", l.Name(to))
		}
	}
}

func reach(t *testing.T, l *lab.Lab, from int, server string) {
	t.Helper()
	conn, err := l.Dial(from, server, soon)
	if err != nil {
		t.Errorf("dial from %s: %v", l.Name(from), err)
		return
	}
	_ = conn.Close()
}

func TestCutAndMend(t *testing.T) {
	l := lab.Hosts(t, 3)
	server := serve(t, l, 2).Addr().String()
	l.Cut(t, 2)
	if conn, err := l.Dial(1, server, silence); err == nil {
		_ = conn.Close()
		t.Error("node2 was reached although its cable is cut")
	}
	if carrier := output(t, l.Command(2, "ip", "-brief", "link", "show", "eth0")); !strings.Contains(carrier, "NO-CARRIER") {
		t.Errorf("node2 sees its link as %q, want NO-CARRIER", carrier)
	}
	reach(t, l, 1, serve(t, l, 3).Addr().String())
	l.Mend(t, 2)
	reach(t, l, 1, server)
}

func TestDropIsSilent(t *testing.T) {
	l := lab.Hosts(t, 2)
	server, other := serve(t, l, 2).Addr().String(), serve(t, l, 1).Addr().String()
	undo := l.Drop(t, 2)
	for from, to := range map[int]string{1: server, 2: other} {
		conn, err := l.Dial(from, to, silence)
		if err == nil {
			_ = conn.Close()
		}
		if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
			t.Errorf("dial from %s through the drop: %v, want a timeout", l.Name(from), err)
		}
	}
	if carrier := output(t, l.Command(2, "ip", "-brief", "link", "show", "eth0")); strings.Contains(carrier, "NO-CARRIER") {
		t.Errorf("node2 sees its link as %q, want its carrier", carrier)
	}
	undo()
	reach(t, l, 1, server)
	reach(t, l, 2, other)
}

func TestCommandRunsOnItsHost(t *testing.T) {
	l := lab.Hosts(t, 2)
	for host := range 3 {
		if got := output(t, l.Command(host, "hostname")); got != l.Name(host) {
			t.Errorf("hostname on host %d says %q, want %q", host, got, l.Name(host))
		}
		if got, want := output(t, l.Command(host, "getent", "ahostsv4", "node1")), l.Address(1); !strings.HasPrefix(got, want) {
			t.Errorf("node1 is %q on %s, want %s", got, l.Name(host), want)
		}
	}

	here := l.Command(1, "pwd", "-P")
	here.Dir = "/usr/bin"
	if got := output(t, here); got != "/usr/bin" {
		t.Errorf("a command started in /usr/bin runs in %q", got)
	}

	sleep := l.Command(2, "sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "sleep is listed on node2 under its own process id", func() bool {
		found := l.Processes(t, 2)
		return len(found) == 1 && found[0].Pid == sleep.Process.Pid && found[0].Argv[0] == "sleep"
	})
	if found := l.Processes(t, 1); len(found) != 0 {
		t.Errorf("node1 runs %v, want nothing", found)
	}
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleep.Wait() // killed
	if found := l.Processes(t, 2); len(found) != 0 {
		t.Errorf("node2 runs %v after its only process was killed", found)
	}
}

// until waits for what must come soon.
func until(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !come(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("wait until %s: it has not come in %v", what, soon)
		}
	}
}
