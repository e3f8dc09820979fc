package main

import (
	"errors"
	"fmt"
	"strings"
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

// exitCode prints what is left to say and chooses the exit status.
func exitCode(err error) int {
	if err == nil {
		return statusOK
	}
	if text := strings.TrimSpace(err.Error()); text != "" { // a quiet status joined to another is a bare newline
		fmt.Fprintln(stderr, "netdyno:", text)
	}
	var s *status
	if errors.As(err, &s) {
		return s.code
	}
	return statusRefused
}
