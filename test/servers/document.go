package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// document shows what was typed and what came, under a heading for each server.
var document = filepath.Join("docs", "servers.md")

// withPort puts a port in its place.
func withPort(word, port string) string { return strings.ReplaceAll(word, "PORT", port) }

// quoted is a line as it is typed.
func quoted(line []string) string {
	words := make([]string, len(line))
	for i, word := range line {
		if words[i] = word; strings.ContainsAny(word, ` "{`) {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}

// renew puts the line and what it brought into the block of text that follows a server's
// heading and begins with a prompt of netdyno.
func renew(name string, line []string, came string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	const prompt, fence = "```\n$ netdyno ", "\n```\n"
	before, after, found := strings.Cut(string(text), "## "+name+"\n")
	lead, old, shown := strings.Cut(after, prompt)
	_, rest, ended := strings.Cut(old, fence)
	if !found || !shown || !ended || strings.Contains(lead, "\n## ") {
		return fmt.Errorf("%s has no heading %q with a block that begins with $ netdyno", document, name)
	}
	text = []byte(before + "## " + name + "\n" + lead + prompt + quoted(line) + "\n" + shortened(came) + fence + rest)
	return os.WriteFile(document, text, 0o644)
}

// shortened leaves out the lines that tell how the run went, and what stands behind the
// table.
func shortened(came string) string {
	var kept []string
	lines := strings.Split(strings.TrimRight(came, "\n"), "\n")
	for i, line := range lines {
		going := strings.Contains(line, " trials in ") || strings.Contains(line, " trial in ") || strings.HasPrefix(line, "after ") || i > 0 && strings.HasPrefix(lines[i-1], "after ")
		if !going {
			kept = append(kept, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(kept, "\n")
}
