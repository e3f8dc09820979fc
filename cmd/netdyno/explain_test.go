package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
)

// Every word that a report or a command line may show is explained.
func TestEveryWordIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range glossary() {
		if len(e.lines) == 0 || e.lines[0][0] != "means" {
			t.Errorf("%s %s has no meaning: %q", e.group, e.name, e.lines)
		}
		if seen[e.group+e.name] {
			t.Errorf("%s %s is listed twice", e.group, e.name)
		}
		seen[e.group+e.name] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d words", len(seen))
	}
}

// words finds the words of a text that are neither names, as go-net is one, nor parts of
// identifiers.
var words = regexp.MustCompile(`(?:^|[\s(“"])([a-z]{3,})(?:[\s).,;:?”"]|$)`)

// printed are the words of what netdyno prints: of golden screens, reports and answers,
// and of its own explanations.
func printed(t *testing.T) map[string]string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"report/testdata/*.golden", "report/testdata/*.txt"} {
		found, err := filepath.Glob("../../internal/read/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	answers, err := filepath.Glob("../../test/answers/testdata/*.golden")
	if err != nil || len(answers) < 20 {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	from := map[string]string{} // word → where it stands
	add := func(where, text string) {
		for word := range strings.FieldsSeq(text) {
			for _, match := range words.FindAllStringSubmatch(word, -1) {
				from[match[1]] = where
			}
		}
	}
	for _, file := range append(files, answers...) {
		if strings.Contains(file, "html") || strings.Contains(file, "page.golden") {
			continue // the same words, among markup
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add(file, string(text))
	}
	for _, m := range metric.All() {
		add("a metric's label", m.Label)
	}
	for _, l := range trial.Limits() {
		add("a limit", l.Means().Means)
	}
	for _, v := range compare.Verdicts() {
		add("a verdict", v.Means())
	}
	return from
}

// A word of what netdyno prints is explained, or is plain English, of which
// testdata/plain-words.txt has those that are used.
func TestEveryPrintedWordIsExplainedOrPlain(t *testing.T) {
	all := glossary()
	text, err := os.ReadFile("testdata/plain-words.txt")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.Fields(string(text))
	known := func(word string) bool {
		return slices.ContainsFunc(all, func(e explained) bool {
			return e.asked(word) || slices.ContainsFunc(strings.Fields(strings.ToLower(e.name)), func(part string) bool { return word == part || word == part+"s" })
		})
	}
	var missing []string
	for word, where := range printed(t) {
		if !slices.Contains(plain, word) && !known(word) {
			missing = append(missing, word)
			if len(missing) < 10 {
				t.Errorf("%q in %s: neither explained nor in plain-words.txt", word, where)
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Logf("all of them: %s", strings.Join(missing, " "))
	}
	for _, term := range strings.Fields("exchange claim goodput cell look interval A/A floor block margin arm baseline settled limit probe noise ladder verdict wake-up p99 warm-up") {
		if slices.Contains(plain, term) || !known(strings.ToLower(term)) {
			t.Errorf("%q is a term of the field, and is not explained", term)
		}
	}
}

// A word may be asked for as others say it, in the plural, and in any case; a miss names
// three that are near.
func TestWordsAreFoundAsTheyAreAsked(t *testing.T) {
	all := glossary()
	for asked, want := range map[string]string{"cells": "cell", "a/a": "A/A", "throughput": "goodput", "bottleneck": "limit", "exchanges": "exchange", "open loop": "open loop", "latencies": "service time"} {
		i := slices.IndexFunc(all, func(e explained) bool { return e.group == "term" && e.asked(asked) })
		if i < 0 || !slices.ContainsFunc(all, func(e explained) bool { return e.name == want && e.asked(asked) }) {
			t.Errorf("%q: found entry %d, not %q", asked, i, want)
		}
	}
	if near := quantity.Nearests("goodputt", wordsOf(all), 3); len(near) != 3 || near[0] != "goodput" {
		t.Errorf("near goodputt: %q", near)
	}
}

// warnsAbout finds what a warning in the sources is about.
var warnsAbout = regexp.MustCompile(`(?:About: +|p\.warn\()"([^":]+)`)

// A warning begins with a word that netdyno explain knows.
func TestEveryWarningIsExplained(t *testing.T) {
	known, seen := wordsOf(glossary()), 0
	err := filepath.WalkDir("../../internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/history/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range warnsAbout.FindAllStringSubmatch(string(text), -1) {
			seen++
			if !slices.Contains(known, match[1]) {
				t.Errorf("%s warns about %q, of which netdyno explain knows nothing", path, match[1])
			}
		}
		return err
	})
	if err != nil || seen < 20 {
		t.Errorf("%d warnings found, %v", seen, err)
	}
	for _, name := range []string{"invalid", "few-samples", "server", "trials", "unfinished"} {
		if !slices.Contains(known, name) {
			t.Errorf("%s is not explained", name)
		}
	}
}
