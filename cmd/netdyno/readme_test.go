package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
	"netdyno/test/oracle"
)

var (
	block   = regexp.MustCompile("(?ms)^```.*?^```")
	command = regexp.MustCompile("(?m)^(?:bin/)?netdyno ([a-z].*)$")
	word    = regexp.MustCompile(`(?:[^\s']|'[^']*')+`)
)

var updateCommands = flag.Bool("update-commands", false, "rewrite the plans of the documents' commands")

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
	seen, plans := 0, oracle.Values{}
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
			trials, err := planned(word.FindAllString(strings.ReplaceAll(line, "\t", " "), -1))
			if err != nil {
				t.Errorf("%s: netdyno %s: %v", filepath.Base(path), line, err)
			}
			if len(trials) > 0 {
				plans[strings.TrimSpace(line)] = oracle.Plan(trials)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d commands found: the documents are not read as they are written", seen)
	}
	plans.Compare(t, "../../test/oracle/testdata/commands.gz", *updateCommands)
}

// planned are the trials of a command; none where it runs nothing.
func planned(words []string) ([]record.Trial, error) {
	r := root()
	words = withRun(words, func(name string) bool { return named(r, name) })
	c, args, err := r.Find(words)
	if err != nil {
		return nil, err
	}
	if err := c.ParseFlags(args); err != nil {
		return nil, err
	}
	args = c.Flags().Args()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	if c.Name() != "run" || slices.ContainsFunc(args, func(a string) bool { return a == strings.ToUpper(a) }) {
		return nil, nil
	}
	if urls, others := splitURLs(args); len(urls) > 0 { // nothing answers there: planned as if it had
		args = nil
		p := looked{typed: append(others, "server=address"), arms: len(urls)}
		if p.lack("client", "go-http1"); len(urls) > 1 {
			p.typed = append(p.typed, "opt.client.path=/a,/b")
		}
		if err := p.hold(urlFlags{}, true, []session.Arm{{Name: "a"}, {Name: "b"}}[:len(urls)]); err != nil {
			return nil, err
		}
		for _, arg := range append(p.typed, asTyped(p.set)...) {
			args = append(args, strings.Replace(arg, "settle=5%/", "settle=", 1)) // without its arm, connections are compared
		}
	}
	s, err := source.ParseArgs(args, func(string) ([]byte, error) { return source.Text("event-loops-quick") })
	if err != nil {
		return nil, err
	}
	trials, _, err := s.Plan()
	return trials, err
}
