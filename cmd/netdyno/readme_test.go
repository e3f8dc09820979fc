package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
)

var (
	block   = regexp.MustCompile("(?ms)^```.*?^```")
	command = regexp.MustCompile("(?m)^(?:bin/)?netdyno ([a-z].*)$")
	word    = regexp.MustCompile(`(?:[^\s']|'[^']*')+`)
)

// Every command in a code block of the documents exists, takes its flags, and what it runs is
// a study that can be planned.
func TestCommandsOfTheDocuments(t *testing.T) {
	documents, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(documents, more...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks := bytes.Join(block.FindAll(text, -1), []byte("\n"))
		for _, match := range command.FindAllStringSubmatch(string(blocks), -1) {
			line, _, _ := strings.Cut(match[1], "#")
			if strings.ContainsAny(line, "…[|<·") { // a form or an output, not a command
				continue
			}
			seen++
			if err := plannable(word.FindAllString(strings.ReplaceAll(line, "\t", " "), -1)); err != nil {
				t.Errorf("%s: netdyno %s: %v", filepath.Base(path), line, err)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d commands found: the documents are not read as they are written", seen)
	}
}

func plannable(words []string) error {
	r := root()
	words = withRun(words, func(name string) bool { return named(r, name) })
	c, args, err := r.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	args = c.Flags().Args()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	if c.Name() != "run" || slices.ContainsFunc(args, func(a string) bool { return a == strings.ToUpper(a) }) {
		return nil
	}
	if urls, others := splitURLs(args); len(urls) > 0 { // nothing answers there: planned as if it had
		p := looked{typed: append(others, "server=address"), arms: len(urls)}
		if p.lack("client", "go-http1"); len(urls) > 1 {
			p.typed = append(p.typed, "opt.client.path=/a,/b")
		}
		if err := p.hold(urlFlags{}, true, []session.Arm{{Name: "a"}, {Name: "b"}}[:len(urls)]); err != nil {
			return err
		}
		args = slices.DeleteFunc(append(p.typed, asTyped(p.set)...), func(arg string) bool { return strings.HasPrefix(arg, "settle=") }) // without its arm, connections are compared
	}
	s, err := source.ParseArgs(args, func(string) ([]byte, error) { return source.Text("event-loops-quick") })
	if err != nil {
		return err
	}
	_, _, err = s.Plan()
	return err
}

// The README says of each study how long it takes, as netdyno run does.
func TestReadmeSaysHowLongStudiesTake(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	names, seen := regexp.MustCompile("`([a-z-]+)`"), 0
	for line := range strings.SplitSeq(string(text), "\n") {
		columns := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(columns) != 4 || strings.HasPrefix(line, "| `mesh` | by its hosts") {
			continue
		}
		var takes []string
		for _, match := range names.FindAllStringSubmatch(columns[0], -1) {
			s, err := source.Named(match[1])
			if err != nil {
				t.Fatal(err)
			}
			about, err := timeOfStudy(s)
			if err != nil {
				t.Fatal(err)
			}
			takes, seen = append(takes, about), seen+1
		}
		if want := strings.Join(takes, ", "); columns[1] != want {
			t.Errorf("README says that %s take %s; want %s", columns[0], columns[1], want)
		}
	}
	if seen < 15 {
		t.Errorf("%d studies found", seen)
	}
}
