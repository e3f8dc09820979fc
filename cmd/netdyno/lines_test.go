package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"netdyno/internal/run/study"
)

// Errors that are joined have a line each; a line break in a name makes none.
func TestLinesOfErrors(t *testing.T) {
	const ended = "two\n"
	missing := &fs.PathError{Op: "open", Path: "a\nb", Err: fs.ErrNotExist}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{errors.New("plain"), []string{"plain"}},
		{missing, []string{"open a·b: file does not exist"}},
		{errors.Join(missing, errors.New("second")), []string{"open a·b: file does not exist", "second"}},
		{fmt.Errorf("pre\nflight: %w", errors.Join(errors.New("one"), errors.New(ended))), []string{"pre·flight: one", "two"}},
		{fmt.Errorf("%w and %w%s", errors.New("a"), errors.New("b"), "\n"), []string{"a and b"}},
		{errors.Join(&status{statusUnmet, nil}, errors.New("loud")), []string{"loud"}},
		{&status{statusUnmet, nil}, nil},
		{&study.Error{Position: "a\nb:1:2", Text: "bad", Excerpt: " 1 | x\n   | ^"}, []string{"a·b:1:2: bad", " 1 | x", "   | ^"}},
		{&status{statusRefused, errors.Join(errors.New("x"), &status{statusUnmet, errors.New("y")})}, []string{"x", "y"}},
	} {
		if got := linesOf(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%q has the lines %q, want %q", c.err, got, c.want)
		}
	}
}
