package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/test/programs"
	"netdyno/test/trials"
)

// timeout is for what must come, on a busy machine.
const timeout = time.Minute

// await waits for a condition.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > timeout {
			t.Fatalf("%s: not within %v", what, timeout)
		}
	}
}

// begun is a netdyno that runs.
type begun struct {
	*exec.Cmd
	said *bytes.Buffer
	mine family
	dir  string // where it runs, and the first on its PATH
	gone chan struct{}
}

func begin(t *testing.T, dir string, argv ...string) begun {
	t.Helper()
	b := begun{said: &bytes.Buffer{}, mine: newFamily(t), dir: dir, gone: make(chan struct{})}
	b.Cmd = exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), argv...)
	b.Dir = dir
	b.Env = append(os.Environ(), string(b.mine), "TMPDIR="+dir, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	b.Stdout, b.Stderr = b.said, b.said
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = b.Wait() // its status is in ProcessState
		close(b.gone)
	}()
	t.Cleanup(func() {
		_ = b.Process.Kill() // it may have ended
		<-b.gone
	})
	return b
}

func (b begun) ended() bool {
	select {
	case <-b.gone:
		return true
	default:
		return false
	}
}

// runs tells whether a process of the family has all of this in its command line.
func (b begun) runs(t *testing.T, parts ...string) bool {
	for _, line := range b.mine.living(t) {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

func fifoNamed(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// occasion is a moment of a command at which it is told to end.
type occasion struct {
	name string
	argv []string
	here func(t *testing.T, b begun) bool // the moment has come
	code int                              // its exit status
	make func(t *testing.T, dir string)
}

// anyStatus is of an occasion whose exit status tells how far it had come.
const anyStatus = -1

func occasions() []occasion {
	reading := func(file string) func(*testing.T, begun) bool {
		held := false
		return func(t *testing.T, b begun) bool {
			// A FIFO that was opened and closed again has ended for its reader, so
			// somebody must hold it.
			if held {
				return true
			}
			w, err := os.OpenFile(filepath.Join(b.dir, file), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err == nil {
				t.Cleanup(func() { _ = w.Close() })
				held = true
			}
			return held
		}
	}
	fifo := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { fifoNamed(t, filepath.Join(dir, name)) }
	}
	sleeper := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			executable(t, filepath.Join(dir, name), "trap '' TERM INT HUP; exec sleep 1000")
		}
	}
	started := func(parts ...string) func(*testing.T, begun) bool {
		return func(t *testing.T, b begun) bool { return b.runs(t, parts...) }
	}
	proto := func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "own.proto"), []byte("syntax = \"proto3\";\nmessage M { string s = 1; }\n"))
		fifoNamed(t, filepath.Join(dir, "data.json"))
	}
	message := []string{"run", "transport=go-http1", "codec=json", "--proto", "own.proto", "--message", "M", "--data", "data.json"}
	return []occasion{
		{"reading a study", []string{"run", "./study.yaml"}, reading("study.yaml"), statusRefused, fifo("study.yaml")},
		{"reading a study to listen", []string{"listen", "./study.yaml"}, reading("study.yaml"), statusRefused, fifo("study.yaml")},
		{"reading a rig", []string{"run", "transport=null", "--rig", "rig.yaml"}, reading("rig.yaml"), statusRefused, fifo("rig.yaml")},
		{"reading a rig to calibrate", []string{"doctor", "--rig", "rig.yaml"}, reading("rig.yaml"), statusRefused, fifo("rig.yaml")},
		{"reading a certificate", []string{"run", "client=go-net", "--rig", "at:127.0.0.1:1?ca=ca.pem"}, reading("ca.pem"), statusRefused, fifo("ca.pem")},
		{"reading a message's values", message, reading("data.json"), statusRefused, proto},
		{"connecting by ssh", []string{"run", "transport=null", "--rig", "ssh:nowhere"}, started("sleep 1000"), statusRefused, sleeper("ssh")},
		{"asking a worker", []string{"transports"}, started("sleep 1000"), statusRefused, sleeper("netdyno-worker-mute")},
		{"checking a worker", []string{"check", "./netdyno-worker-mute"}, started("sleep 1000"), statusRefused, sleeper("netdyno-worker-mute")},
		{"listening", []string{"listen", "transport=go-net"}, started("netdyno-worker-net", "meter"), statusOK, nil},
		{"calibrating", []string{"calibrate"}, started("netdyno-worker-net", "meter"), statusUnmet, nil},
		{"touring", []string{"tour"}, started("netdyno-worker-", "meter"), anyStatus, nil},
	}
}

// Whatever a command does, a signal ends it, and nothing of it is left.
func TestASignalEndsEveryCommand(t *testing.T) {
	for i, o := range occasions() {
		told := []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}[i%2]
		t.Run(fmt.Sprintf("%s, %v", o.name, told), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if o.make != nil {
				o.make(t, dir)
			}
			var b begun
			trials.Repeat(func() bool { // a busy machine may come too late for a worker that has two seconds
				b = begin(t, dir, o.argv...)
				await(t, "the moment", func() bool { return b.ended() || o.here(t, b) })
				return b.ended()
			})
			if b.ended() {
				t.Fatalf("it ended by itself:\n%s", b.said)
			}
			if err := b.Process.Signal(told); err != nil {
				t.Fatal(err)
			}
			await(t, "its end", b.ended)
			b.mine.mustEnd(t)
			if code := b.ProcessState.ExitCode(); code != o.code && code >= 0 && o.code != anyStatus {
				t.Errorf("status %d, want %d:\n%s", code, o.code, b.said)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "netdyno-[A-Za-z0-9]*")); err != nil || len(left) > 1 || len(left) == 1 && !strings.Contains(left[0], "worker") {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

// What hurries nothing: timeout(1) signals twice in a moment, a terminal that goes away says so
// repeatedly, and Ctrl-\ is as Ctrl-C and shows nobody the stacks of a Go program.
func TestSignalsThatDoNotCutTheReport(t *testing.T) {
	for name, signals := range map[string][]os.Signal{
		"timeout(1)":        {syscall.SIGTERM, syscall.SIGTERM},
		"a closed terminal": {syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP},
		"Ctrl-\\":           {syscall.SIGQUIT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b begun
			trials.Repeat(func() bool { // a busy machine may send them too far apart for one
				b = begin(t, t.TempDir(), "run", "transport=null", "opt.service=1ms", "connections=1", "amount=300", "blocks=20", "--out", "run")
				records := filepath.Join(b.dir, "run", "records.jsonl")
				await(t, "two records", func() bool { return b.ended() || countLines(records) > 2 })
				first := time.Now()
				for _, s := range signals {
					_ = b.Process.Signal(s) // it may have ended meanwhile
				}
				apart := time.Since(first)
				await(t, "its end", b.ended)
				b.mine.mustEnd(t)
				return apart > sameSignal/2
			})
			if said := b.said.String(); strings.Contains(said, "goroutine") || strings.Contains(said, "SIGQUIT: quit") {
				t.Errorf("it dumped its stacks:\n%s", said)
			}
			b.mustHaveReported(t, statusUnmet)
		})
	}
}

func countLines(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

func (b begun) mustHaveReported(t *testing.T, code int) {
	t.Helper()
	if got := b.ProcessState.ExitCode(); got != code {
		t.Errorf("status %d (%v), want %d:\n%s", got, b.ProcessState, code, b.said)
	}
	for _, file := range []string{"report.html", "report.md", "findings.json"} {
		if _, err := os.Stat(filepath.Join(b.dir, "run", file)); err != nil {
			t.Errorf("no report: %v\n%s", err, b.said)
		}
	}
}

// A second signal that is no echo ends netdyno at once, and the kernel the rest.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	for _, told := range []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT} {
		t.Run(told.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// It is given two seconds to end when it is told to, and does when its parent
			// is gone.
			deaf := filepath.Join(dir, "deaf")
			executable(t, filepath.Join(dir, "ssh"), `case " $* " in *" -O "*) exit 1;; esac
trap '' TERM QUIT
: >'`+deaf+`'
while grep -q "^PPid:.$PPID\$" /proc/$$/status; do sleep 0.02; done`)
			b := begin(t, dir, "run", "transport=null", "--rig", "ssh:nowhere")
			await(t, "an ssh that hears no signal", func() bool { _, err := os.Stat(deaf); return b.ended() || err == nil })
			for !b.ended() { // the first is an orderly end of seconds; what follows ends it at once
				_ = b.Process.Signal(told) // it may have ended meanwhile
				time.Sleep(sameSignal / 5)
			}
			b.mine.mustEnd(t)
			status, _ := b.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signal() != told && status.ExitStatus() != 128+int(told) || strings.Contains(b.said.String(), "goroutine") {
				t.Errorf("it ended with %v, want by the second signal:\n%s", b.ProcessState, b.said)
			}
		})
	}
}

// nohup(1) means it.
func TestARunOutlivesAnIgnoredHangup(t *testing.T) {
	programs.Whole(t)
	t.Parallel()
	dir := t.TempDir()
	executable(t, filepath.Join(dir, "nohupped"), "trap '' HUP; exec netdyno run transport=null opt.service=1ms connections=1 amount=100 blocks=3 --out run")
	mine := newFamily(t)
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "nohupped"))
	c.Dir, c.Env = dir, append(os.Environ(), string(mine))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "a record", func() bool { return countLines(filepath.Join(dir, "run", "records.jsonl")) > 1 })
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // ProcessState has its verdict
	if code := c.ProcessState.ExitCode(); !finished(code, said.String()) {
		t.Errorf("it ended with %v:\n%s", c.ProcessState, &said)
	}
	mine.mustEnd(t)
}

// Ctrl-C ends netdyno and the tee(1) behind it, which may be the first to go.
func TestAReaderThatIsGoneDoesNotEndARun(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := begun{said: &bytes.Buffer{}, mine: newFamily(t), dir: t.TempDir()}
	b.Cmd = exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"),
		"run", "transport=null", "opt.service=1ms", "connections=1", "amount=100", "blocks=3", "--out", "run")
	b.Dir, b.Env = b.dir, append(os.Environ(), string(b.mine))
	b.Stdout, b.Stderr = w, w
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the child has its own
	await(t, "a record", func() bool { return countLines(filepath.Join(b.dir, "run", "records.jsonl")) > 1 })
	_ = r.Close() // nothing is written to it
	_ = b.Wait()  // its status is in ProcessState
	b.mine.mustEnd(t)
	b.mustHaveReported(t, statusUnmet) // the text could not be printed
}
