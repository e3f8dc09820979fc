package main

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// entry is one file of an installation.
type entry struct {
	source string // file to read; empty for a link
	target string // path below the root directory, without a leading slash
	link   string // where a link points
	mode   int64
}

// home is where the programs lie, side by side: netdyno looks for its workers
// where it lies itself.
const home = "usr/lib/netdyno"

// tree lists what is installed, in the order of paths.
func tree(dir string) ([]entry, error) {
	all := []entry{{target: "usr/bin/netdyno", link: "../lib/netdyno/netdyno", mode: 0o777}}
	for _, part := range []struct {
		from, to string
		mode     int64
	}{{"programs", home, 0o755}, {"share", "usr/share", 0o644}} {
		root := filepath.Join(dir, part.from)
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			below := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
			all = append(all, entry{source: name, target: path.Join(part.to, below), mode: part.mode})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", root, err)
		}
	}
	return all, nil
}
