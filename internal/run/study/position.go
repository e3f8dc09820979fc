package study

import (
	"fmt"
	"strings"
)

// Position is where the user wrote something: in a line of a file, or in an
// argument of the command line. Package source knows both; nil stands for what
// nobody wrote, a default.
type Position interface {
	String() string  // "blocks.yaml:12:9" or `argument 3 ("rate=20K")`
	Excerpt() string // the line with a caret under it; "" on the command line
}

// Error is a mistake in a study. It names the position, what was found and what
// was expected, and shows the line.
type Error struct {
	Position string
	Text     string
	Excerpt  string
}

func (e *Error) Error() string {
	if e.Excerpt == "" {
		return e.Position + ": " + e.Text
	}
	return e.Position + ": " + e.Text + "\n" + e.Excerpt
}

// Lines are what Error consists of: text and place, then the line itself with its caret.
func (e *Error) Lines() []string {
	return append([]string{e.Position + ": " + e.Text}, strings.Split(e.Excerpt, "\n")...)
}

// Errorf returns an *Error at a position, which may be nil.
func Errorf(at Position, format string, values ...any) error {
	e := &Error{Position: where(at), Text: fmt.Sprintf(format, values...)}
	if at != nil {
		e.Excerpt = at.Excerpt()
	}
	return e
}

func where(at Position) string {
	if at == nil {
		return "the default"
	}
	return at.String()
}
