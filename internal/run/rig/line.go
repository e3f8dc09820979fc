package rig

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// maxLine bounds the first line of a command, in bytes.
const maxLine = 64 << 10

// FirstLine reads what a command says first, without the spaces around it. When
// the context ends before it has said a line, its cause is the error, and the
// reading goes on until the command does not hold from any more. It may read
// more than the line.
func FirstLine(ctx context.Context, from io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReaderSize(from, maxLine).ReadSlice('\n')
		answered <- answer{strings.TrimSpace(string(line)), err}
	}()
	select {
	case a := <-answered:
		return a.line, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
