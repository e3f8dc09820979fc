package recorded

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"

	"netdyno/internal/input"
	"netdyno/internal/record"
)

// File makes recorded traffic of files, in the order given, and writes it whole or not at
// all. "-" is standard input.
func File(ctx context.Context, out string, f Format, files []string, o Options) (s Summary, err error) {
	var inputs []Input
	for _, name := range files {
		from, err := os.Stdin, error(nil)
		if name != "-" {
			if from, err = input.Open(name); err != nil {
				return s, err
			}
			defer from.Close()
		}
		inputs = append(inputs, Input{Name: name, From: from})
	}
	spool, err := os.CreateTemp(filepath.Dir(out), ".netdyno-record-*")
	if err != nil {
		return s, err
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil { // it goes with its descriptor, however this ends
		return s, err
	}
	err = record.WriteAtomic(out, func(w io.Writer) (err error) {
		s, err = Make(ctx, f, inputs, o, Output{spool, w})
		return err
	})
	return s, err
}

// Guess tells which log a file is that begins so: its first line must be a request of the
// format. A compressed one is none.
func Guess(begin []byte) (Format, bool) {
	line, _, _ := bytes.Cut(bytes.TrimLeft(begin, "\r\n\t "), []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	for _, f := range formats {
		if f.entries != nil {
			if bytes.HasPrefix(line, []byte("{")) && bytes.Contains(begin, []byte(`"log"`)) && bytes.Contains(begin, []byte(`"entries"`)) {
				return f, true
			}
		} else if _, why := f.parser()(line); why == "" {
			return f, true
		}
	}
	return Format{}, false
}
