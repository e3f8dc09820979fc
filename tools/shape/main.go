// Command shape prints how the project's Go code is built, package by package:
// its size, and how far its files form layers.
//
//	make shape
//	go run ./tools/shape ./internal/read/...
//
// Two files of a package refer to each other where one uses what the other
// declares. If files can be ordered so that each refers only to files below it,
// the package can be read from the bottom to the top, and no reference runs back
// up. Where that is impossible, the table counts the references that run back up
// in the best order that was found.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	all := flag.Bool("all", false, "list every reference that runs back up")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if err := run(patterns, *all); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(patterns []string, all bool) error {
	packages, err := load(patterns)
	if err != nil {
		return err
	}
	printPackages(packages)
	printSums(packages)
	printLongest(packages)
	if all {
		printBack(packages)
	}
	return printProse()
}

func printPackages(packages []shape) {
	slices.SortFunc(packages, func(a, b shape) int { return cmp.Compare(a.path, b.path) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "files\tlines\ttests\texported\treferences\tback up\t  %s\t\n", pad("package"))
	for _, p := range packages {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\t\n", p.files, p.lines, p.testLines, p.exported, len(p.references), len(p.back), pad(p.path))
	}
	_ = w.Flush() // to a terminal: there is nobody left to tell
}

// pad sets a package's path flush left in a table that sets cells flush right.
func pad(path string) string { return fmt.Sprintf("%-36s", path) }

// parts are what DESIGN.md speaks of, by the beginnings of their packages' paths.
var parts = []struct {
	name  string
	paths []string
}{
	{"between", []string{"internal/contract", "internal/record", "internal/metric", "internal/quantity", "internal/hist", "internal/procstat", "internal/tcpinfo", "internal/udpinfo", "internal/unixsocket", "internal/values", "internal/input", "internal/head", "internal/expect", "internal/paths", "internal/printable"}},
	{"RUN", []string{"internal/run"}},
	{"WORK", []string{"internal/work", "workers"}},
	{"READ", []string{"internal/read"}},
	{"commands", []string{"cmd"}},
	{"test, peers, truth, tools", []string{"test", "peers", "truth", "tools"}},
}

func printSums(packages []shape) {
	fmt.Println()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "packages\tfiles\tlines\ttests\treferences\tback up\t  %s\t\n", pad("part"))
	for _, part := range parts {
		var n, files, lines, tests, references, back int
		for _, p := range packages {
			if slices.ContainsFunc(part.paths, func(of string) bool { return p.path == of || strings.HasPrefix(p.path, of+"/") }) {
				n, files, lines, tests = n+1, files+p.files, lines+p.lines, tests+p.testLines
				references, back = references+len(p.references), back+len(p.back)
			}
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\t\n", n, files, lines, tests, references, back, pad(part.name))
	}
	_ = w.Flush()
}

func printLongest(packages []shape) {
	var files, functions []extent
	for _, p := range packages {
		files, functions = append(files, p.longestFile), append(functions, p.longestFunction)
	}
	fmt.Println()
	for _, e := range longest(functions, 3) {
		fmt.Printf("longest function  %4d lines  %s\n", e.lines, e.name)
	}
	for _, e := range longest(files, 3) {
		fmt.Printf("longest file      %4d lines  %s\n", e.lines, e.name)
	}
}

// longest returns the n longest, the longest first.
func longest(of []extent, n int) []extent {
	slices.SortStableFunc(of, func(a, b extent) int { return cmp.Compare(b.lines, a.lines) })
	return of[:min(n, len(of))]
}

func printBack(packages []shape) {
	for _, p := range packages {
		for _, r := range p.back {
			fmt.Printf("%s: %s uses %s of %s\n", p.path, r.from, strings.Join(r.names, ", "), r.to)
		}
	}
}

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
