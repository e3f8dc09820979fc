package source

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// file is a study file as it was read.
type file struct {
	name  string
	lines []string
}

// position is where something stands: in a file, in an argument counted from 1,
// or in an option of the command that says more than the arguments. It
// implements study.Position.
type position struct {
	file         *file
	line, column int // from 1; column in characters
	argument     int
	text         string // the argument, or the option
}

func (p position) String() string {
	switch {
	case p.argument > 0:
		return fmt.Sprintf("argument %d (%q)", p.argument, quantity.Clip(p.text, 60))
	case p.file != nil && p.line > 0:
		return fmt.Sprintf("%s:%d:%d", p.file.name, p.line, p.column)
	case p.file != nil:
		return p.file.name
	}
	return p.text
}

// Excerpt returns the line of a file with a caret under the column.
func (p position) Excerpt() string {
	if p.file == nil || p.line < 1 || p.line > len(p.file.lines) {
		return ""
	}
	number := fmt.Sprintf("%4d | ", p.line)
	caret := strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ", max(0, p.column-1)) + "^"
	return number + p.file.lines[p.line-1] + "\n" + caret
}

func (p position) errorf(format string, values ...any) error {
	return study.Errorf(p, format, values...)
}
