package main

import (
	"errors"
	"slices"
	"strings"

	"netdyno/internal/printable"
)

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
