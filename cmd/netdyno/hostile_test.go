package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

// steering would clear a terminal, name its window, ask it for an answer, hide
// and turn what follows, each in the middle of a word that can be looked for.
const steering = "WITNESS\x1b[2J\x1b]0;owned\x07\x1b[6n\x1b[8m\u009b2J\u202e\u200b\u2028\r\b\nEND"

// pathly is the same without the byte that no file system takes.
var pathly = strings.ReplaceAll(steering, "/", "")

// hostileCase is something outside netdyno that says what it likes.
type hostileCase struct {
	name string
	argv func(t *testing.T, dir string) []string
}

// hostileCases are the ways on which somebody's words come to the screen.
var hostileCases = []hostileCase{
	{"a server program's stderr", func(t *testing.T, dir string) []string {
		script := executable(t, filepath.Join(dir, "server.sh"), "printf '"+octal(steering)+"' >&2; exit 3")
		return []string{"run", "server=exec", "client=go-net", "opt.server.command=" + script + " {port}", "amount=1", "blocks=1"}
	}},
	{"a server's reason phrase", func(t *testing.T, _ string) []string {
		return []string{"run", "server=address", "client=go-http1", "opt.server.address=" + rudeServer(t), "opt.server.wire=http/1.1", "amount=1", "connections=1", "blocks=1"}
	}},
	{"what ssh prints", func(t *testing.T, dir string) []string {
		executable(t, filepath.Join(dir, "ssh"), "printf '"+octal(steering)+"' >&2; exit 255")
		return []string{"run", "transport=go-net", "amount=1", "blocks=1", "--rig", "ssh:somewhere"}
	}},
	{"a worker that is found", func(t *testing.T, dir string) []string {
		executable(t, filepath.Join(dir, "netdyno-worker-rude"), "printf '"+octal(steering)+"' >&2; exit 3")
		return []string{"transports"}
	}},
	{"a study file's name", func(*testing.T, string) []string { return []string{"run", "./" + steering + ".yaml"} }},
	{"a study file's text", func(t *testing.T, dir string) []string {
		file := filepath.Join(dir, "study.yaml")
		write(t, file, []byte("study: rude\nquestion: WITNESS \u202e\u200b\u2028\nvary: {transport: [null]}\nblokcs: WITNESS \u202e\u200b 2\n"))
		return []string{"run", file}
	}},
	{"an arm's name", func(*testing.T, string) []string { return []string{"run", "transport=" + steering} }},
	{"a rig file's name", func(*testing.T, string) []string {
		return []string{"run", "transport=go-net", "--rig", steering + ".yaml"}
	}},
	{"a directory's name", func(*testing.T, string) []string { return []string{"report", steering} }},
	{"a new directory's name", func(*testing.T, string) []string {
		return []string{"run", "transport=null", "opt.service=1ms", "connections=1", "amount=1", "blocks=1", "--out", pathly}
	}},
	{"a directory's name to be gone on in", func(*testing.T, string) []string { return []string{"run", steering, "--continue"} }},
	{"a directory's name to compare", func(*testing.T, string) []string { return []string{"compare", steering, steering} }},
	{"a directory's name to export", func(*testing.T, string) []string { return []string{"export", steering, "--format", "csv"} }},
	{"a directory's name to serve", func(*testing.T, string) []string { return []string{"serve", steering} }},
	{"a key and a level", func(*testing.T, string) []string { return []string{"run", steering + "=" + steering} }},
	{"a flag", func(*testing.T, string) []string { return []string{"run", "--" + steering} }},
	{"a flag's value", func(*testing.T, string) []string { return []string{"run", "go-net", "--profile=" + steering} }},
	{"a URL", func(*testing.T, string) []string { return []string{"http://127.0.0.1:" + steering} }},
	{"a word to explain", func(*testing.T, string) []string { return []string{"explain", steering} }},
	{"a transport to list", func(*testing.T, string) []string { return []string{"transports", steering} }},
	{"a program to check", func(*testing.T, string) []string { return []string{"check", "./" + steering} }},
	{"a message's file", func(*testing.T, string) []string {
		return []string{"run", "transport=go-http1", "codec=json", "--proto", steering, "--message", steering, "--data", steering}
	}},
	{"an unknown command", func(*testing.T, string) []string { return []string{steering} }},
	{"a file of records", func(t *testing.T, dir string) []string { return []string{"report", hostileRun(t, dir)} }},
	{"records for a log", func(t *testing.T, dir string) []string {
		return []string{"export", hostileRun(t, dir), "--format", "hlog", "--out", filepath.Join(dir, "log")}
	}},
	{"records for a table", func(t *testing.T, dir string) []string {
		return []string{"export", hostileRun(t, dir), "--format", "csv"}
	}},
	{"records to compare", func(t *testing.T, dir string) []string {
		run := hostileRun(t, dir)
		return []string{"compare", run, run}
	}},
	{"facts of a host", func(t *testing.T, dir string) []string {
		facts, file := filepath.Join(dir, "facts.json"), filepath.Join(dir, "rig.yaml")
		write(t, facts, []byte(`{"cpu.governor":"WITNESS \u001b[2J\u202e","kernel.release":"\u009b2J"}`))
		write(t, file, []byte("rig: prefix\noptions: {shared: \"yes\"}\nhosts: [{name: a, prefix: [sh, -c, cat "+facts+"], address: 127.0.0.1}]\n"))
		return []string{"doctor", "--rig", file}
	}},
}

// What anybody outside says reaches the terminal as text that shows what it is.
func TestNobodysWordsSteerTheTerminal(t *testing.T) {
	if unicode.IsGraphic('\x1b') || !strings.Contains(steering, "\x1b") {
		t.Fatal("the text is harmless")
	}
	for _, c := range hostileCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mine := newFamily(t)
			said := saidBy(t, mine, dir, c.argv(t, dir)...)
			if !strings.Contains(said, "WITNESS") {
				t.Fatalf("nothing hostile was shown, so nothing was tested:\n%s", said)
			}
			for line := range strings.Lines(said) {
				if i := strings.IndexFunc(line, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }); i >= 0 {
					t.Errorf("a line would steer a terminal from %d on: %q", i, line)
				}
				if strings.HasPrefix(strings.TrimSpace(line), "END") {
					t.Errorf("a name's own line break begins a line: %q", line)
				}
			}
			mine.mustEnd(t)
		})
	}
}

// saidBy runs netdyno in a directory that also is the first on its PATH, and
// returns what it wrote to stdout and stderr.
func saidBy(t *testing.T, mine family, dir string, argv ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), argv...)
	c.Dir = dir
	c.Env = append(os.Environ(), string(mine), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said.String()
}

// octal writes text for printf(1).
func octal(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

func executable(t *testing.T, path, script string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// rudeServer answers every connection with a reason phrase of its own.
func rudeServer(t *testing.T) string {
	t.Helper()
	return answering(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 64<<10))
		_, _ = io.WriteString(c, "HTTP/1.1 500 "+strings.NewReplacer("\r", "", "\n", "").Replace(steering)+"\r\nContent-Length: 0\r\n\r\n")
	})
}

// hostileRun is a run's directory in which every text is hostile.
func hostileRun(t *testing.T, dir string) string {
	t.Helper()
	trial := record.Trial{ID: steering, Block: 1, Cell: steering, Arm: steering, Levels: map[string]string{"transport": steering, steering: steering}}
	header := record.Header{
		Netdyno: steering, CreatedAt: time.Now(), Command: []string{steering},
		Study: record.Study{
			Name: steering, Question: steering, Vary: []record.Factor{{Name: "transport", Levels: []string{steering}}}, Blocks: 1,
			Compare:  record.Compare{Factor: "transport", Baseline: steering, Primary: []string{"exchanges_per_s"}, Margin: 0.02},
			Warnings: []record.Warning{{About: steering, Text: steering, Advice: steering}},
		},
		Facts: record.Facts{Rig: steering, Seats: map[string]record.Host{steering: {Values: map[string]string{steering: steering}}}},
	}
	file, err := session.Directory(dir).Create([]byte("study: rude\n"), header, []record.Trial{trial})
	if err != nil {
		t.Fatal(err)
	}
	failed := record.Record{Trial: trial, Outcome: record.Failed, Failure: &record.Failure{
		Kind: contract.ErrorKind(steering), Text: steering, Worker: steering, State: steering,
	}}
	if err := errors.Join(file.Append(failed), file.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(session.Directory(dir).Records(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("damaged " + steering + "\n"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close() // what was written is in the file
	return dir
}
