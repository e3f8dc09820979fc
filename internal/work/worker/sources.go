package worker

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// writeSources writes what a worker is built from as a tar archive: the files
// of each directory of the tree without tests and their data, always in the
// same order.
func writeSources(to io.Writer, trees map[string]fs.FS) error {
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
