package study

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a mistake in a study file or on the command line. It names the
// place, what was found and what was expected, and shows the line.
type Error struct {
	Place   string // "blocks.yaml:12:9" or `argument 3 ("rate=20K")`
	Text    string
	Excerpt string // the source line with a caret; "" on the command line
}

func (e *Error) Error() string {
	if e.Excerpt == "" {
		return e.Place + ": " + e.Text
	}
	return e.Place + ": " + e.Text + "\n" + e.Excerpt
}

// source is a study file as it was read.
type source struct {
	name  string
	lines []string
}

// place is where something stands: in a file, or in an argument counted from
// 1. The zero place is a default's.
type place struct {
	file         *source
	line, column int // from 1; column in characters
	argument     int
	text         string // the argument
}

func (p place) String() string {
	switch {
	case p.argument > 0:
		return fmt.Sprintf("argument %d (%q)", p.argument, clip(p.text, 60))
	case p.file != nil && p.line > 0:
		return fmt.Sprintf("%s:%d:%d", p.file.name, p.line, p.column)
	case p.file != nil:
		return p.file.name
	}
	return "the default"
}

func (p place) errorf(format string, values ...any) error {
	return &Error{Place: p.String(), Text: fmt.Sprintf(format, values...), Excerpt: p.excerpt()}
}

func (p place) excerpt() string {
	if p.file == nil || p.line < 1 || p.line > len(p.file.lines) {
		return ""
	}
	number := fmt.Sprintf("%4d | ", p.line)
	caret := strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ", max(0, p.column-1)) + "^"
	return number + p.file.lines[p.line-1] + "\n" + caret
}

func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
