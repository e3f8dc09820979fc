package input

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a YAML file. They keep the YAML library, which recurses and
// copies paths, from minutes of work and gigabytes of memory on a hostile file:
// nesting is at most a line's length deep in block style, and MaxBrackets in
// flow style.
const (
	MaxYAMLLine = 1000 // bytes
	MaxBrackets = 16   // open at once
)

// ShapeError is where a YAML text is not in the bounds, or not text.
type ShapeError struct {
	Line, Column int // from 1; 0 for the whole text
	What         string
	Shown        bool // the line is short and harmless enough to be shown
}

func (e *ShapeError) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What)
}

// CheckYAML looks at a text of at most so many bytes before the YAML library
// does. It returns nil for one within the bounds.
func CheckYAML(data []byte, most int) *ShapeError {
	switch {
	case len(data) > most:
		return &ShapeError{What: fmt.Sprintf("the file has %d bytes; expected at most %d", len(data), most)}
	case !utf8.Valid(data):
		return &ShapeError{What: "the file is not UTF-8 text"}
	}
	open, number := 0, 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if len(line) > MaxYAMLLine {
			return &ShapeError{Line: number, Column: 1, What: fmt.Sprintf("the line has %d bytes; expected at most %d", len(line), MaxYAMLLine)}
		}
		for i, c := range line {
			switch {
			case c == '[' || c == '{':
				open++
			case (c == ']' || c == '}') && open > 0:
				open--
			case unicode.IsControl(c) && c != '\t':
				return &ShapeError{Line: number, Column: columnOf(line, i), What: fmt.Sprintf("control character %U", c)}
			}
			if open > MaxBrackets {
				return &ShapeError{Line: number, Column: columnOf(line, i), What: fmt.Sprintf("more than %d brackets are open", MaxBrackets), Shown: true}
			}
		}
	}
	return nil
}

func columnOf(line string, at int) int { return utf8.RuneCountInString(line[:at]) + 1 }
