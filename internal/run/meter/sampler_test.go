package meter

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// fakePerf puts a perf on PATH that writes its process number and then never ends
// by itself.
func fakePerf(t *testing.T) (pidFile string) {
	t.Helper()
	directory := t.TempDir()
	pidFile = filepath.Join(directory, "pid")
	text := "#!/bin/sh\necho $$ > " + pidFile + "\nread line <&3; echo ack >&4\nexec sleep 1000\n"
	if err := os.WriteFile(filepath.Join(directory, "perf"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", directory+":"+os.Getenv("PATH"))
	return pidFile
}

func awaitGone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

// A profile is of the window, and its tool is no part of what is metered.
func TestAProfileIsAskedForBySetup(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // where no perf is
	for _, wanted := range []bool{false, true} {
		m := run(t, bounds{}, "honest")
		m.next()
		m.send(`{"setup":{"profile":` + strconv.FormatBool(wanted) + `}}`)
		m.next()
		for _, mark := range []string{`{"mark":{"id":1}}`, `{"mark":{"id":2,"reset":true}}`, `{"mark":{"id":3}}`} {
			m.send(mark)
			if answer, line := m.next(); answer.Meter == nil || answer.Meter.Sampled != nil {
				t.Errorf("a mark has samples: %s", line)
			}
		}
		m.send(`{"stop":{}}`)
		result, line := m.next()
		sampled := result.Meter.Sampled
		if (sampled != nil) != wanted || wanted && !strings.Contains(sampled.Why, "PATH") {
			t.Errorf("profile %v: %s", wanted, line)
		}
	}
}

func TestPerfEndsWithItsMeter(t *testing.T) {
	for _, how := range []string{"killed", "stdin closed"} {
		t.Run(how, func(t *testing.T) {
			pidFile := fakePerf(t)
			m := run(t, bounds{}, "honest")
			m.next()
			m.send(`{"setup":{"profile":true}}`)
			if ready, line := m.next(); ready.Ready == nil {
				t.Fatalf("got %q, want ready", line)
			}
			m.send(`{"mark":{"id":1,"reset":true}}`)
			if mark, line := m.next(); mark.Meter.Process.Processes != 1 {
				t.Errorf("perf is metered: %s", line)
			}
			if how == "killed" {
				if err := m.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			} else {
				m.in.Close()
				if _, exit, code := m.rest(); code != 0 || exit.Reason != "" {
					t.Errorf("exit %+v, code %d", exit, code)
				}
			}
			awaitGone(t, pidFile)
		})
	}
}
