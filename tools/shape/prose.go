package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// printProse prints the longest line and the longest table cell of the documents,
// in words.
func printProse() error {
	out, err := exec.Command("git", "ls-files", "*.md").Output()
	if err != nil {
		return fmt.Errorf("list documents: %w", err)
	}
	var line, cell extent
	documents, words := 0, 0
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		documents++
		l, c, n := prose(name, string(text))
		line, cell, words = longer(line, l), longer(cell, c), words+n
	}
	fmt.Printf("longest line of prose  %4d words  %s\n", line.lines, line.name)
	fmt.Printf("longest table cell     %4d words  %s\n", cell.lines, cell.name)
	fmt.Printf("documents: %d, %d words\n", documents, words)
	return nil
}

// prose returns the longest line and table cell of a Markdown text and the number
// of its words; code is left out.
func prose(name, text string) (line, cell extent, words int) {
	code, number := false, 0
	for l := range strings.Lines(text) {
		number++
		at := fmt.Sprintf("%s:%d", name, number)
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "```"):
			code = !code
		case code:
		case strings.HasPrefix(l, "|"):
			for c := range strings.SplitSeq(l, "|") {
				n := len(strings.Fields(c))
				words += n
				cell = longer(cell, extent{at, n})
			}
		default:
			n := len(strings.Fields(l))
			words += n
			line = longer(line, extent{at, n})
		}
	}
	return line, cell, words
}
