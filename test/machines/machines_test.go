// Package machines tries netdyno on machines that are not like ours, each made for the test.
// What must come of it is the table of docs/machines.md, row by row.
package machines

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/test/programs"
)

var columns = []string{"build", "run", "URL", "doctor", "test"}

// The usual commands are as short as they can be: what is tried is the machine.
var commands = map[string][]string{
	"run":    {"run", "transport=go-net,go-epoll", "connections=1", "amount=20", "blocks=1"},
	"URL":    {"URL", "--connections", "1", "--number", "20", "-H", "Authorization: Bearer secret"},
	"doctor": {"doctor"},
}

var (
	programsInGo = []string{"netdyno", "netdyno-host", "netdyno-worker-net", "netdyno-worker-http", "netdyno-worker-exec", "netdyno-worker-fasthttp"}
	onRings      = []string{"netdyno-worker-uring", "netdyno-worker-http1-uring", "netdyno-worker-http1-asio"}
)

// cell is what must come of one column on one machine.
type cell struct {
	tried, refused bool
	words          []string // that are on the screen
}

var quoted = regexp.MustCompile(`“([^”]+)”`)

// table reads the rows of docs/machines.md by their names, in order.
func table(t *testing.T) (names []string, rows map[string]map[string]cell) {
	t.Helper()
	text, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]map[string]cell{}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(parts) != 1+len(columns) || strings.Contains(line, "| build |") {
			continue
		}
		name := strings.TrimSpace(parts[0])
		row := map[string]cell{}
		for i, column := range columns {
			said := strings.TrimSpace(parts[i+1])
			c := cell{tried: said != "–", refused: strings.HasPrefix(said, "refused")}
			if c.tried && !c.refused && !strings.HasPrefix(said, "works") {
				t.Errorf("%s, %s: %q; expected works, refused or –", name, column, said)
			}
			for _, q := range quoted.FindAllStringSubmatch(said, -1) {
				c.words = append(c.words, q[1])
			}
			if c.refused && len(c.words) == 0 {
				t.Errorf("%s, %s: it is refused with no words", name, column)
			}
			row[column] = c
		}
		names, rows[name] = append(names, name), row
	}
	return names, rows
}

// Every row is a machine that is made here, and every machine is a row.
func TestTableNamesEveryMachine(t *testing.T) {
	names, _ := table(t)
	var made []string
	for _, m := range machines {
		made = append(made, m.name)
	}
	if !slices.Equal(names, made) {
		t.Errorf("docs/machines.md has the rows\n%s\nand these machines are made:\n%s", strings.Join(names, "\n"), strings.Join(made, "\n"))
	}
}

func TestMachines(t *testing.T) {
	programs.Path(t, "netdyno") // builds them, or skips the test
	_, rows := table(t)
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, column := range columns {
				if c := rows[m.name][column]; c.tried {
					t.Run(column, func(t *testing.T) { try(t, m, column, c) })
				}
			}
		})
	}
}

// try runs a column's command on a machine, and holds what comes of it against the table. A
// trial that the busy machine spoiled is no word about its kind: then it is tried again.
func try(t *testing.T, m machine, column string, c cell) {
	for tries := 3; ; tries-- {
		status, said := carryOut(t, m, column)
		var lacks []string
		for _, w := range c.words {
			if !strings.Contains(joined(said), joined(w)) {
				lacks = append(lacks, w)
			}
		}
		well := status == 0 || column == "doctor" && status == 1 // which is what it found
		if well != c.refused && len(lacks) == 0 && !strings.Contains(said, "goroutine 1 [") {
			return
		}
		if tries > 1 && strings.Contains(said, " invalid") {
			continue
		}
		t.Errorf("status %d, expected %s with the words %q, and lacks %q; it said:\n%s", status, map[bool]string{true: "a refusal", false: "success"}[c.refused], c.words, lacks, said)
		return
	}
}

// joined is a text whatever its lines were broken by.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// carryOut makes the machine and runs a column's command there, in a minute at most.
func carryOut(t *testing.T, m machine, column string) (status int, said string) {
	t.Helper()
	w := where{work: open(t)}
	switch {
	case strings.Contains(m.name, "not ASCII"):
		w.work = dir(t, w, "né-Übung")
	case strings.Contains(m.name, "with a space"):
		w.work = dir(t, w, "a path")
	}
	var argv []string
	if column == "build" || column == "test" {
		argv = built(t, m, w, column)
	} else {
		w.bin = ownBin(t, w)
		command := commands[column]
		if column == "run" && m.run != nil {
			command = m.run
		}
		at, own := w.bin, self(t)
		if m.name == "an empty root with `/proc`" {
			at, own = "/bin", "/bin/machines.test"
		}
		argv = append([]string{filepath.Join(at, "netdyno")}, command...)
		if column == "URL" {
			argv = append([]string{own, serve}, argv...)
		}
	}
	if m.enter != nil {
		argv = append(m.enter(t, w), argv...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.WaitDelay = 5 * time.Second
	c.Dir, c.Env = w.work, surroundings(t, m, w)
	if column == "build" || column == "test" {
		c.Dir = filepath.Join(w.work, "checkout")
	}
	text, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", argv, err)
	}
	return c.ProcessState.ExitCode(), string(text)
}

// ownBin is a directory with the programs where every user reaches them.
func ownBin(t *testing.T, w where) string {
	t.Helper()
	bin, err := programs.Bin()
	if err != nil {
		t.Fatal(err)
	}
	to := dir(t, w, "bin")
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(programsInGo), onRings...) {
		if _, err := os.Stat(filepath.Join(bin, name)); err == nil {
			copied(t, filepath.Join(bin, name), filepath.Join(to, name))
		} else if slices.Contains(programsInGo, name) {
			t.Fatal(err)
		}
	}
	return to
}

// surroundings is the environment on a machine.
func surroundings(t *testing.T, m machine, w where) []string {
	t.Helper()
	env := os.Environ()
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // of this user, whatever HOME says there
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	env = append(env, "MAKEFLAGS=", "LANES=")
	for _, one := range m.env {
		name, value, sets := strings.Cut(one, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if sets {
			env = append(env, name+"="+strings.ReplaceAll(value, "WORK", w.work))
		}
	}
	return env
}

// built makes a checkout, and is the command that builds a program of it or tests a package.
func built(t *testing.T, m machine, w where, column string) []string {
	t.Helper()
	tool(t, "make")
	to := dir(t, w, "checkout")
	const files = "cd ../.. && git ls-files -z -- Makefile .ci 'go.*' '*.go' cmd internal ':!*/testdata/*' | xargs -0 cp --no-dereference --parents -t \"$0\" && git init -q \"$0\""
	copyAll := exec.CommandContext(t.Context(), "sh", "-ec", files, to)
	if text, err := copyAll.CombinedOutput(); err != nil {
		t.Fatalf("make a checkout: %v: %s", err, text)
	}
	if m.name == "a checkout of another owner" {
		if text, err := exec.CommandContext(t.Context(), root(t, "chown"), "-R", "65534", to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if column == "test" {
		return []string{"go", "test", "./internal/quantity"}
	}
	return []string{"make", "go-program", "PROGRAM=netdyno-worker-exec"}
}
