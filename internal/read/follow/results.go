// Package follow reads runs as they are now: which a directory holds, and how far one
// that goes on is. It opens nothing outside the directory and writes nothing.
package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"netdyno/internal/input"
	"netdyno/internal/record"
)

// Results is a directory of runs. Any goroutine may use it.
type Results struct {
	dir  string // absolute
	only string // the one run of it, where a run's own directory was named

	mu       sync.Mutex
	outlines map[string]outline // by run
}

// Open returns the runs in a directory: those directly in it, and those one level deeper,
// where a tour puts its runs. A run's own directory holds that run alone.
func Open(dir string) (*Results, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Results{dir: absolute, outlines: map[string]outline{}}
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not there; netdyno run makes it, or name another directory", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	if _, err := os.Stat(filepath.Join(absolute, record.RecordsFile)); err == nil {
		r.dir, r.only = filepath.Split(absolute)
	}
	return r, nil
}

// ErrNoRun is of a name that no run in the directory has.
var ErrNoRun = errors.New("there is no such run")

// openRun opens a run's directory by its name, such as "tour-20260102-150405/blocks-quick".
// A name, or a link, that leads out of the directory is of no run.
func (r *Results) openRun(name string) (*os.Root, error) {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") >= depth || r.only != "" && name != r.only {
		return nil, ErrNoRun
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened any more: %w", r.dir, err)
	}
	defer root.Close()
	run, err := root.OpenRoot(name)
	if err != nil {
		return nil, ErrNoRun
	}
	if info, err := run.Stat(record.RecordsFile); err != nil || !info.Mode().IsRegular() {
		run.Close()
		return nil, ErrNoRun
	}
	return run, nil
}

// openRecords opens a run's directory and its records. The caller closes both.
func (r *Results) openRecords(name string) (*os.Root, *os.File, error) {
	run, err := r.openRun(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := input.OpenIn(run, record.RecordsFile)
	if err != nil {
		run.Close()
		return nil, nil, err
	}
	return run, f, nil
}

// Dir is the directory that holds the runs.
func (r *Results) Dir() string { return r.dir }

// Path is a run's directory as a user would name it.
func (r *Results) Path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

const (
	depth    = 2    // of a run below the directory
	mostRuns = 2000 // that are looked at
)

// names returns the runs there are, and how many were left out beyond the bound.
func (r *Results) names(root *os.Root) (names []string, more int, err error) {
	if r.only != "" {
		return []string{r.only}, 0, nil
	}
	var walk func(dir string, level int) error
	walk = func(dir string, level int) error {
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			info, err := root.Stat(name) // follows a link, and not out of the directory
			if err != nil || !info.IsDir() {
				continue
			}
			if file, err := root.Stat(path.Join(name, record.RecordsFile)); err == nil && file.Mode().IsRegular() {
				if len(names) == mostRuns {
					more++
					continue
				}
				names = append(names, name)
			} else if level < depth {
				_ = walk(name, level+1) // a directory that cannot be read holds no run for us
			}
		}
		return nil
	}
	err = walk(".", 1)
	return names, more, err
}

// stamp tells whether a file has changed.
type stamp struct {
	size     int64
	modified int64 // ns
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// readPlan reads a run's trials.jsonl.
func readPlan(run *os.Root) ([]record.Trial, error) {
	f, err := input.OpenIn(run, record.TrialsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	trials, err := record.ReadTrialsFrom(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", record.TrialsFile, err)
	}
	return trials, nil
}
