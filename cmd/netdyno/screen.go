package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"netdyno/internal/printable"
	"netdyno/internal/read/report"
)

// screen is where people read: a terminal, or the file or pipe in its place.
// Everything printed passes through it and is made printable, since nearly
// every line can carry a worker's, a server's or a file's words.
type screen struct {
	*printable.Writer
	raw      io.Writer // for our own control sequences
	terminal bool
	ascii    bool       // the user's locale is not UTF-8
	columns  func() int // that a line may have: the terminal's, which change with its window, else COLUMNS, else 80
	rows     func() int // of the terminal, else 24
	drawn    []string   // by redraw, as they stand on the terminal
}

// Everything that this package prints goes to these two writers; a test of the whole tree
// checks that.
var (
	stdout = newScreen(os.Stdout)
	stderr = newScreen(os.Stderr)
)

const (
	leastWidth    = 20 // columns; less is no terminal that a line could fit
	standardWidth = 80
	standardRows  = 24
	widestText    = 140 // columns; longer lines are hard to read
	foldedWider   = 4   // columns that a line in ASCII may be wider than as it was set
)

// clearLine moves a terminal's cursor to the line's beginning and empties it, and what is
// below: a wider terminal before may have left a row there.
const clearLine = "\r\x1b[J"

func newScreen(f *os.File) *screen {
	s := &screen{raw: f, terminal: term.IsTerminal(int(f.Fd())), ascii: !utf8Locale()}
	s.Writer = s.printing(printable.NewWriter(f))
	s.columns = func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= leastWidth { // one that was never given a size says 0
			return width
		}
		if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width >= leastWidth {
			return width
		}
		return standardWidth
	}
	s.rows = func() int {
		if _, rows, err := term.GetSize(int(f.Fd())); err == nil && rows > 1 {
			return rows
		}
		return standardRows
	}
	return s
}

// utf8Locale tells whether the user's terminal is said to show UTF-8, by the first
// of the variables that is set. Without any the locale is C, which does not.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			locale = strings.ToUpper(locale)
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return false
}

// printing returns a writer that prints what the user's locale has.
func (s *screen) printing(w *printable.Writer) *printable.Writer {
	if s.ascii {
		return w.InASCII()
	}
	return w
}

// say prints one line, whatever breaks somebody's words have. A failed print has
// nobody to be told.
func (s *screen) say(format string, args ...any) {
	fmt.Fprintln(s, printable.Text(fmt.Sprintf(format, args...)))
}

// redraw puts lines in the place of those that it wrote before, and leaves the cursor
// behind the last: at most as many as the terminal has rows, each cut to its width, so
// that none wraps. Nothing where there is no terminal. A failed write has nobody to be
// told.
func (s *screen) redraw(lines ...string) {
	if !s.terminal {
		return
	}
	width := s.columns()
	lines = slices.Clone(lines[:min(len(lines), s.rows()-1)])
	for i, line := range lines {
		line = printable.Text(line)
		if s.ascii {
			line = printable.ASCII(line)
		}
		lines[i] = text.Trim(line, width-1) // the last column stays free: some terminals wrap as it is written
	}
	_, _ = io.WriteString(s.raw, s.back(width)+strings.Join(lines, "\r\n"))
	s.drawn = lines
}

// back moves the cursor to the beginning of the drawn lines, and empties the terminal
// from there. A terminal that has become narrower since has wrapped them: what counts
// are the rows that they take now.
func (s *screen) back(width int) string {
	rows := 0
	for _, line := range s.drawn {
		rows += max(1, (text.StringWidthWithoutEscSequences(line)+width-1)/width)
	}
	if rows > 1 {
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
	}
	return clearLine
}

// clear empties the rows that redraw wrote.
func (s *screen) clear() { s.redraw() }

// passing returns the writer for bytes that are somebody else's: as they are to a
// program, printable to a terminal.
func (s *screen) passing() io.Writer {
	if s.terminal {
		return s
	}
	return s.raw
}

// flushScreens writes what a last print left incomplete.
func flushScreens() {
	_ = stdout.Flush() // as with every print, there is nobody to be told
	_ = stderr.Flush()
}

// showText prints a report's text, in colour where stdout is a terminal and the
// user has not asked for none (no-color.org).
func showText(write func(io.Writer, report.TextOptions) error) error {
	o := report.TextOptions{Width: min(stdout.columns(), widestText)}
	if stdout.ascii {
		o.Width -= foldedWider
	}
	if _, plain := os.LookupEnv("NO_COLOR"); plain || !stdout.terminal {
		return write(stdout, o)
	}
	o.Color = true
	return write(stdout.printing(printable.NewColouredWriter(stdout.raw)), o)
}

// showJSON prints a value for programs: the same data, written so that it can
// be shown.
func showJSON(v any) error { return stdout.showJSON(v) }

func (s *screen) showJSON(v any) error {
	document, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if s.ascii {
		document = printable.JSONInASCII(document)
	}
	_, err = s.Write(append(printable.JSON(document), '\n'))
	return err
}

// linesOf are an error's lines: one for each that it joins, and no other, as a name or
// a worker's words in it may have line breaks of their own.
func linesOf(err error) []string {
	whole := err.Error()
	if own, ok := err.(interface{ Lines() []string }); ok { // not errors.As: this walks the tree itself; a place in a file shows its line
		lines := slices.Clone(own.Lines())
		for i := range lines {
			lines[i] = printable.Text(lines[i])
		}
		return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines, texts []string
		for _, e := range joined.Unwrap() {
			lines, texts = append(lines, linesOf(e)...), append(texts, e.Error())
		}
		if whole == strings.Join(texts, "\n") {
			return lines
		}
	} else if inner := errors.Unwrap(err); inner != nil && inner.Error() != "" {
		before, found := strings.CutSuffix(whole, inner.Error())
		if lines := linesOf(inner); found && len(lines) > 0 {
			lines[0] = printable.Text(before) + lines[0]
			return lines
		}
	}
	if whole = strings.TrimSpace(whole); whole == "" { // a quiet status
		return nil
	}
	// cobra's own hint, in the words of all others.
	said, names, hinted := strings.Cut(whole, "\n\nDid you mean this?\n")
	if hinted {
		said += "; did you mean " + strings.Join(strings.Fields(names), " or ") + "?"
	}
	return []string{printable.Text(said)}
}
