// Package sources writes what a worker is built from as a tar archive, from the trees or
// from the packed archive that a program holds.
package sources

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Write writes the files of each tree, by its directory, without tests and their data and
// always in the same order. The error is the first of a tree or of the writer.
func Write(to io.Writer, trees map[string]fs.FS) error {
	archive := tar.NewWriter(to)
	for _, directory := range slices.Sorted(maps.Keys(trees)) {
		err := fs.WalkDir(trees[directory], ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := fs.ReadFile(trees[directory], name)
			if err != nil {
				return err
			}
			if err := archive.WriteHeader(&tar.Header{Name: path.Join(directory, name), Mode: 0o644, Size: int64(len(text))}); err != nil {
				return err
			}
			_, err = archive.Write(text)
			return err
		})
		if err != nil {
			return fmt.Errorf("write sources: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write sources: %w", err)
	}
	return nil
}

// Unpack writes the archive whose gzip a program holds.
func Unpack(to io.Writer, packed string) error {
	archive, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		_, err = io.Copy(to, archive)
	}
	if err != nil {
		return fmt.Errorf("unpack sources: %w", err)
	}
	return nil
}
