package recorded

import (
	"bufio"
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

// Guess tells which log a file is that begins so, where that needs no options:
// its first line that is none of nothing must be one of the format.
func Guess(begin []byte) (Format, bool) {
	line, _, _ := bytes.Cut(bytes.TrimLeft(begin, "\r\n\t "), []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if bytes.HasPrefix(begin, []byte{0x1f, 0x8b}) { // compressed: the names say it
		return Format{}, false
	}
	for _, f := range formats {
		switch f.Name {
		case "har":
			if bytes.HasPrefix(line, []byte("{")) && bytes.Contains(begin, []byte(`"log"`)) && bytes.Contains(begin, []byte(`"entries"`)) {
				return f, true
			}
		case "nginx", "jsonl":
			from, err := f.open(Options{})
			if err != nil {
				continue
			}
			took := false
			_ = from.read(bufio.NewReader(bytes.NewReader(append(bytes.Clone(line), '\n'))), func(int, seen) error { took = true; return nil }, func(int, reason, []byte) error { return nil })
			if took {
				return f, true
			}
		}
	}
	return Format{}, false
}
