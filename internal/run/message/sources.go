package message

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/reporter"

	"netdyno/internal/quantity"
)

// maxFiles bounds the files of a .proto with all that it imports.
const maxFiles = 256

// errEnded is for a compiler that still asks when its work is over.
var errEnded = errors.New("find a .proto: the compilation has ended")

// sources finds .proto files for the compiler, by the names that they import
// each other by. The compiler asks from many goroutines, in part after it has
// given up.
type sources struct {
	root string
	read func(string) ([]byte, error)

	mu     sync.Mutex
	paths  map[string]string // of the names that were found; the first is the root's
	failed error             // the first that has nothing to do with what is in a file
	ended  bool
}

// find implements protocompile.Resolver. It looks for a file among protobuf's own, then
// in the root's directory, then in the directories above the root's.
func (s *sources) find(name string) (protocompile.SearchResult, error) {
	if standard, err := protocompile.WithStandardImports(protocompile.CompositeResolver(nil)).FindFileByPath(name); err == nil {
		return standard, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return protocompile.SearchResult{}, errEnded
	case len(s.paths) == maxFiles:
		return s.fail(fmt.Errorf("compile %s: it takes more than %d files", s.root, maxFiles))
	}
	for dir := filepath.Dir(s.root); ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		text, err := s.read(at)
		switch {
		case err == nil && len(text) > MaxProto:
			return s.fail(fmt.Errorf("read %s: has more than the %s that a .proto may have", at, quantity.FormatBytes(MaxProto)))
		case err == nil:
			s.paths[name] = at
			return protocompile.SearchResult{Source: bytes.NewReader(text)}, nil
		case !errors.Is(err, fs.ErrNotExist) || len(s.paths) == 0:
			return s.fail(fmt.Errorf("read %s: %w", at, reason(err)))
		case dir == filepath.Dir(dir):
			return protocompile.SearchResult{}, fmt.Errorf("no file %s beside %s or in a directory above it", name, s.root)
		}
	}
}

// fail is called with the lock held.
func (s *sources) fail(err error) (protocompile.SearchResult, error) {
	if s.failed == nil {
		s.failed = err
	}
	return protocompile.SearchResult{}, err
}

// end turns the compiler's error into one that begins with the path of the
// file at fault; nothing is read afterwards.
func (s *sources) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	var placed reporter.ErrorWithPos
	switch {
	case s.failed != nil:
		return s.failed
	case err == nil:
		return nil
	case !errors.As(err, &placed):
		return fmt.Errorf("compile %s: %w", s.root, err)
	}
	at := placed.GetPosition()
	file := cmp.Or(s.paths[at.Filename], at.Filename)
	said := strings.Replace(placed.Unwrap().Error(), "unexpected $end", "unexpected end of file", 1) // a parser's own word
	return fmt.Errorf("%s:%d:%d: %s", file, at.Line, at.Col, said)
}

// reason is an error without the path that a file's errors begin with.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
