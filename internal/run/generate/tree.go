package generate

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Bounds of a worker's sources, before anything is written.
const (
	maxSources = 64 << 20
	maxFiles   = 20_000
)

// unpack writes an archive of sources into a directory. The error is about an
// archive that reaches out of it or holds anything but files.
func unpack(archive []byte, directory string) (err error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	files := tar.NewReader(bytes.NewReader(archive))
	for n := 0; ; n++ {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		switch {
		case err != nil:
			return fmt.Errorf("unpack sources: %w", err)
		case n == maxFiles:
			return fmt.Errorf("unpack sources: more than %d files", maxFiles)
		case header.Typeflag != tar.TypeReg || !fs.ValidPath(header.Name):
			return fmt.Errorf("unpack sources: %q is not a file of the tree", header.Name)
		}
		text, err := io.ReadAll(files)
		if err == nil {
			err = root.MkdirAll(path.Dir(header.Name), 0o700)
		}
		if err == nil {
			err = root.WriteFile(header.Name, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("unpack sources: %w", err)
		}
	}
}

// modules returns the modules of a tree by their directory in it.
func modules(tree fs.FS) (map[string]string, error) {
	found := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "go.mod" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if module, is := strings.CutPrefix(strings.TrimSpace(line), "module "); is {
				found[path.Dir(name)] = strings.TrimSpace(module)
				return nil
			}
		}
		return fmt.Errorf("%s names no module", name)
	})
	if err == nil && found["."] == "" {
		err = errors.New("they have no module at their root")
	}
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return found, nil
}

// moduleOf returns the directory of the module that has a package, "" when none has.
func moduleOf(pkg string, modules map[string]string) string {
	best := ""
	for directory, module := range modules {
		if (pkg == module || strings.HasPrefix(pkg, module+"/")) && (best == "" || len(module) > len(modules[best])) {
			best = directory
		}
	}
	return best
}
