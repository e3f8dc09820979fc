package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/printable"
)

// The exit statuses of every command.
const (
	statusOK      = 0
	statusTainted = 1 // some trials failed or are invalid; a check did not pass
	statusRefused = 2 // nothing could be run or read
	statusOpen    = 3 // of a gate and of compare: it cannot be told
)

// status ends a command with an exit status and, unless quiet, its error.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return ""
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// linesOf are an error's lines: one for each that it joins, and no other, as a name or
// a worker's words in it may have line breaks of their own.
func linesOf(err error) []string {
	whole := err.Error()
	if own, ok := err.(interface{ Lines() []string }); ok { //nolint:errorlint // this walks the tree itself; a place in a file shows its line
		lines := slices.Clone(own.Lines())
		for i := range lines {
			lines[i] = printable.Text(lines[i])
		}
		return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // as above
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

// exitCode prints what is left to say and chooses the exit status.
func exitCode(err error) int {
	if err == nil {
		return statusOK
	}
	if said := linesOf(err); len(said) > 0 {
		fmt.Fprintln(stderr, "netdyno:", strings.Join(said, "\n"))
	}
	var s *status
	if errors.As(err, &s) {
		return s.code
	}
	return statusRefused
}
