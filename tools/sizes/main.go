// Command sizes tells what the programs in bin/ are made of that make build makes, in the
// table of docs/sizes.md:
//
//	make sizes
//
// It fails where they are larger than the bound on all of them together.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/kits"
)

// bound is what all programs together are asked to have at most, in bytes.
const bound = 150e6

// shown is how many modules a program's line names.
const shown = 4

func main() {
	page := flag.String("page", "", "the page whose table to write anew; empty prints it")
	flag.Parse()
	var table strings.Builder
	err := run("bin", &table)
	if *page == "" {
		fmt.Print(table.String())
	} else if table.Len() > 0 {
		err = errors.Join(err, enter(*page, table.String()))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

// enter puts a table in the place of the one that a page has, from its head to an
// empty line or the end.
func enter(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, old, found := strings.Cut(string(text), tableHead)
	if !found {
		return fmt.Errorf("%s has no table that begins with %q", page, tableHead)
	}
	after := ""
	if end := strings.Index(old, "\n\n"); end >= 0 {
		after = old[end+1:]
	}
	return os.WriteFile(page, []byte(before+table+after), 0o644)
}

const tableHead = "| program | MB |"

// run prints the table of the programs in a directory, the largest first.
func run(directory string, to io.Writer) error {
	paths, err := filepath.Glob(filepath.Join(directory, "netdyno*"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has no programs: run `make build`", directory)
	}
	var programs []program
	var total int64
	for _, path := range paths {
		if kits.Build(".", filepath.Base(path)) {
			continue
		}
		p, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		total += p.size
		programs = append(programs, p)
	}
	slices.SortFunc(programs, func(a, b program) int { return cmp.Compare(b.size, a.size) })
	var text strings.Builder
	text.WriteString(tableHead + " code | tables of functions | constants | data | symbols | most code, in MB |\n|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, p := range programs {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", p.name, mb(p.size), mb(p.code), mb(p.tables), mb(p.constants), mb(p.data), mb(p.symbols), p.most())
	}
	fmt.Fprintf(&text, "| all %d | %s | | | | | | |\n", len(programs), mb(total))
	_, err = io.WriteString(to, text.String())
	if total > bound {
		err = errors.Join(err, fmt.Errorf("all programs together have %s MB, more than %s", mb(total), mb(bound)))
	}
	return err
}

func mb(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

// most names the modules with most code.
func (p program) most() string {
	var words []string
	for _, m := range p.modules[:min(shown, len(p.modules))] {
		if m.code < 5e4 {
			break // below 0.05 MB
		}
		words = append(words, m.name+" "+mb(m.code))
	}
	return strings.Join(words, ", ")
}
