package owned

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"netdyno/internal/input"
)

// Kept are texts of one kind that are kept between runs, each under a name and for a while.
type Kept struct {
	Kind string // of the Places
	For  time.Duration
}

// mostKept bounds a text in bytes.
const mostKept = 1 << 20

// Recall returns what Keep kept under a name. The error says why there is nothing, or nothing
// that may be used.
func (k Kept) Recall(name string) (text []byte, err error) {
	err = errors.New("it is kept nowhere")
	for _, place := range Places(k.Kind) {
		if text, err = k.read(filepath.Join(place, name)); err == nil {
			return text, nil
		}
	}
	return nil, err
}

func (k Kept) read(path string) ([]byte, error) {
	file, err := input.OpenKept(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := Check(path, info); err != nil {
		return nil, err
	}
	if age := time.Since(info.ModTime()); age < 0 || age > k.For || info.Size() > mostKept {
		return nil, fmt.Errorf("%s is too old, or too large", path)
	}
	return io.ReadAll(io.LimitReader(file, mostKept))
}

// Keep keeps a text whole or not at all, and drops those that are too old to be recalled.
func (k Kept) Keep(name string, text []byte) error {
	directory, err := Private(k.Kind)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(directory, "new-")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(directory, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return errors.Join(err, k.dropOld(directory))
}

func (k Kept) dropOld(directory string) error {
	entries, err := os.ReadDir(directory)
	for _, e := range entries {
		if info, unread := e.Info(); unread == nil && time.Since(info.ModTime()) > k.For {
			err = errors.Join(err, os.Remove(filepath.Join(directory, e.Name())))
		}
	}
	return err
}
