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
			if err := planned(word.FindAllString(strings.ReplaceAll(line, "\t", " "), -1)); err != nil {
				t.Errorf("%s: netdyno %s: %v", filepath.Base(path), line, err)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d commands found: the documents are not read as they are written", seen)
	}
}

// planned plans what a command runs, if it runs anything.
func planned(words []string) error {
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
		args = nil
		p := looked{typed: append(others, "server=address"), arms: len(urls)}
		if p.lack("client", "go-http1"); len(urls) > 1 {
			p.typed = append(p.typed, "opt.client.path=/a,/b")
		}
		if err := p.hold(urlFlags{}, true, []session.Arm{{Name: "a"}, {Name: "b"}}[:len(urls)]); err != nil {
			return err
		}
		for _, arg := range append(p.typed, asTyped(p.set)...) {
			args = append(args, strings.Replace(arg, "settle=5%/", "settle=", 1)) // without its arm, connections are compared
		}
	}
	s, err := source.ParseArgs(args, func(string) ([]byte, error) { return source.Text("event-loops-quick") })
	if err != nil {
		return err
	}
	_, _, err = s.Plan()
	return err
}
