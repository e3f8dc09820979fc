package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ctrl-C while a large file is being written leaves nothing of it.
func TestAnExportThatIsEndedLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &stoppedError{os.Interrupt}
	file := filepath.Join(t.TempDir(), "run.csv")
	err := exporting{out: file}.to(func(w io.Writer) error {
		ending := endingWriter{ctx, w}
		if _, err := io.WriteString(ending, "half"); err != nil {
			t.Errorf("before: %v", err)
		}
		cancel(stopped)
		_, err := io.WriteString(ending, "of it")
		return err
	})
	left, dirErr := os.ReadDir(filepath.Dir(file))
	if !errors.Is(err, stopped) || !strings.Contains(err.Error(), "stopped by a signal") || dirErr != nil || len(left) > 0 {
		t.Errorf("error %v, %d files (%v); want the signal and none", err, len(left), dirErr)
	}
}
