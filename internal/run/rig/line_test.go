package rig

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFirstLine(t *testing.T) {
	for name, c := range map[string]struct {
		said, want string
		err        error
	}{
		"a line and more": {"/tmp/here \nmore", "/tmp/here", nil},
		"no line":         {"half", "half", io.EOF},
		"nothing":         {"", "", io.EOF},
	} {
		got, err := FirstLine(t.Context(), strings.NewReader(c.said))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
	if _, err := FirstLine(t.Context(), strings.NewReader(strings.Repeat("x", maxLine+1))); err == nil {
		t.Error("a line without an end is taken")
	}
	silent, speaker := io.Pipe()
	defer speaker.Close()
	late := errors.New("nothing yet")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	if _, err := FirstLine(ctx, silent); !errors.Is(err, late) {
		t.Errorf("the error is %v, want the context's cause", err)
	}
}
