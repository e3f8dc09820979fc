package lab

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// failing is a test that keeps what it fails of.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, values ...any) {
	f.message = fmt.Sprintf(format, values...)
	runtime.Goexit()
}

// fail starts a daemon that is never ready, and returns what the test fails of.
func fail(d *daemon) string {
	f := &failing{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.start(f, func() error { return fmt.Errorf("never ready") })
	}()
	<-done
	return f.message
}

func TestDaemonThatEndsShowsItsLog(t *testing.T) {
	l := Hosts(t, 1)
	for script, want := range map[string][]string{
		"echo one >&2; echo two; exit 3": {"start dud on node1", "exit status 3", "\tone\n\ttwo"},
		"seq 100; kill -9 $$":            {"signal: killed", "\t81\n", "\n\t100"},
		"head -c 100000 /dev/zero":       {"exit status 0", "\x00"},
	} {
		message := fail(&daemon{lab: l, title: "dud on node1", host: 1,
			argv: []string{"sh", "-c", script}, log: filepath.Join(t.TempDir(), "dud.log")})
		for _, part := range want {
			if !strings.Contains(message, part) {
				t.Errorf("%q fails of %q, want in it %q", script, message, part)
			}
		}
		if len(message) > tailBytes+1024 || strings.Contains(message, "\t80\n") {
			t.Errorf("%q fails of %d bytes, want no more than %d lines and %d bytes of log", script, len(message), tailLines, tailBytes)
		}
	}
}

func TestMissingDaemonNamesThePackages(t *testing.T) {
	l := Hosts(t, 1)
	message := fail(&daemon{lab: l, title: "nobody", host: 1, argv: []string{"no-such-daemon"}, log: filepath.Join(t.TempDir(), "log")})
	if !strings.Contains(message, "no-such-daemon") || !strings.Contains(message, "packages.txt") {
		t.Errorf("it fails of %q, want the program and packages.txt named", message)
	}
}
