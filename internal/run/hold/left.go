package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// left is the file of one holder: what it has to put back, locked as long as it lives.
type left struct {
	file *os.File
	path string
}

// content is what stands in such a file.
type content struct {
	Space   string            `json:"space"`
	Address string            `json:"address"`
	Before  map[string]string `json:"before"`
}

// maxLeft bounds such a file in bytes.
const maxLeft = 64 << 10

// keep writes the former values to a file before any setting is changed. It refuses a
// setting that another holder holds.
func (h Here) keep(before map[string]string) (*left, error) {
	if err := os.MkdirAll(h.Left, 0o700); err != nil {
		return nil, fmt.Errorf("hold: keep what is to be put back: %w", err)
	}
	err := h.each(func(path string, there content, lives bool) error {
		for key := range before {
			if _, same := there.Before[key]; same && lives && there.Space == h.Space {
				return fmt.Errorf("hold: %s is held by another run (%s); wait for its end", key, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(content{h.Space, h.Address, before})
	if err != nil {
		return nil, fmt.Errorf("hold: keep what is to be put back: %w", err)
	}
	f, err := os.CreateTemp(h.Left, "new-*")
	if err != nil {
		return nil, fmt.Errorf("hold: keep what is to be put back: %w", err)
	}
	l := &left{f, filepath.Join(h.Left, fmt.Sprintf("held-%d.json", os.Getpid()))}
	_, err = f.Write(text)
	err = errors.Join(err, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)) // before others find it
	if err = errors.Join(err, os.Rename(f.Name(), l.path)); err != nil {
		return nil, fmt.Errorf("hold: keep what is to be put back: %w", errors.Join(err, f.Close()))
	}
	return l, nil
}

// forget removes the file: everything is put back.
func (l *left) forget() error { return errors.Join(os.Remove(l.path), l.file.Close()) }

// each visits the files that lie there; lives tells that the holder does.
func (h Here) each(visit func(path string, c content, lives bool) error) error {
	paths, err := filepath.Glob(filepath.Join(h.Left, "held-*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // put back meanwhile
		}
		if err != nil {
			return fmt.Errorf("hold: %w", err)
		}
		lives := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
		c, err := readLeft(f)
		if err == nil {
			err = visit(path, c, lives)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func readLeft(f *os.File) (c content, err error) {
	text := make([]byte, maxLeft)
	n, err := f.Read(text)
	if err != nil {
		return c, fmt.Errorf("hold: read %s: %w", f.Name(), err)
	}
	if err := json.Unmarshal(text[:n], &c); err != nil {
		return c, fmt.Errorf("hold: read %s: %w", f.Name(), err)
	}
	for key := range c.Before {
		if err := checkKey(key, false); err != nil {
			return c, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return c, nil
}

// PutBack puts back the settings of killed holders in this network namespace, and deletes
// the files of holders whose namespaces no longer exist. It returns the settings that it
// put back, each as KEY=VALUE.
func (h Here) PutBack() (all []string, err error) {
	err = h.each(func(path string, c content, lives bool) error {
		switch {
		case lives:
			return nil
		case c.Space == h.Space:
			there := h
			there.Address = c.Address
			if err := there.setAll(c.Before); err != nil {
				return err
			}
			for key, value := range c.Before {
				all = append(all, key+"="+value)
			}
		case spaceLives(c.Space):
			return nil
		}
		return os.Remove(path)
	})
	return all, err
}

// spaceLives tells whether some process is in a network namespace.
func spaceLives(space string) bool {
	all, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return true // the pattern is a good one
	}
	for _, path := range all {
		if at, err := os.Readlink(path); err == nil && at == space {
			return true
		}
	}
	return false
}
