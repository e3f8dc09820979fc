package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
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

// What users of load tools ask for is explained in a sentence or two, with a flag, metric,
// limit or page that is there.
func TestWordsOfTheFieldAreExplained(t *testing.T) {
	all := glossary()
	for asked, want := range map[string]string{
		"p95": "--percentiles", "Percentile": "service_p90_us", "TTFB": "first byte", "websocket": "--events", "coordinated omission": "due",
		"virtual users": "think=", "nagle": "TCP_NODELAY", "keep-alive": "fresh=yes", "throughput": "exchanges_per_s", "latency": "service time", "rps": "-q", "qps": "-q",
		"think time": "pause", "ramp-up": "arrival=ramp", "jitter": "noise", "tail": "p99", "open loop": "schedule", "closed loop": "completes", "warm-up": "before",
		"soak test": "-d", "stress test": "capacity", "concurrency": "-c", "slo": "objective", "bandwidth": "goodput", "rtt": "tcp_rtt_us",
	} {
		text := ""
		for _, e := range all {
			if e.asked(strings.ToLower(asked)) {
				text += e.name + " " + e.lines[0][1] + "\n"
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q lacks %q", asked, text, want)
		}
	}
	_, field, _ := strings.Cut(netdyno.Glossary, "## Words of the field")
	for text := range strings.Lines(field) {
		for _, name := range regexp.MustCompile("`([a-z_.]+_(?:us|s|per_s|share))`").FindAllStringSubmatch(text, -1) {
			if _, err := metric.Named(name[1]); err != nil {
				t.Errorf("%q names a metric: %v", text, err)
			}
		}
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
