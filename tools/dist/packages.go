package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers its format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // the same
)

// packages writes the Debian package and the RPM.
func (r release) packages() error {
	for _, format := range []string{"deb", "rpm"} {
		if err := r.installable(format); err != nil {
			return fmt.Errorf("write the %s package: %w", format, err)
		}
	}
	return nil
}

func (r release) installable(format string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	// nfpm changes its argument, so that each format has an argument of its
	// own.
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "netdyno", Arch: r.arch, Platform: "linux",
		Version: r.version, VersionSchema: "none", Release: "1",
		Section: "net", Priority: "optional", License: "Apache-2.0", MTime: r.time,
		Maintainer:  "The netdyno authors <netdyno@localhost>",
		Description: "Dynamometer for network transports\nnetdyno runs the same work through every way to move data and says\nwhich to use, what it costs, what limited it, and how certain that is.",
		Overridables: nfpm.Overridables{
			// Arms of built-in studies; without them those arms stay empty.
			Suggests: []string{"iperf3", "iperf", "sockperf"},
			Contents: r.contents(),
			// Else it is this machine's name.
			RPM: nfpm.RPM{BuildHost: "localhost"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	if err := nfpm.Validate(info); err != nil {
		return err
	}
	f, err := os.Create(r.name("." + format))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}

func (r release) contents() files.Contents {
	var all files.Contents
	for _, e := range r.tree {
		c := files.Content{Source: e.source, Destination: "/" + e.target, FileInfo: &files.ContentFileInfo{Mode: os.FileMode(e.mode), MTime: r.time}}
		if e.link != "" {
			c.Source, c.Type = e.link, files.TypeSymlink
		}
		all = append(all, &c)
	}
	return all
}

// tarball packs the tree below usr/ in a directory of the release's name.
func (r release) tarball() error {
	f, err := os.Create(r.name(".tar.gz"))
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	top := strings.TrimSuffix(filepath.Base(r.name(".tar")), ".tar")
	moved := slices.Clone(r.tree)
	for i := range moved {
		moved[i].target = path.Join(top, strings.TrimPrefix(moved[i].target, "usr/"))
	}
	return errors.Join(r.archive(z, moved), z.Close(), f.Close())
}

// archive writes files as tar(5).
func (r release) archive(w io.Writer, all []entry) error {
	t := tar.NewWriter(w)
	for _, e := range all {
		header := tar.Header{Name: e.target, Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: r.time, Format: tar.FormatPAX}
		content := []byte(e.text)
		switch {
		case e.link != "":
			header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		case strings.HasSuffix(e.target, "/"):
			header.Typeflag = tar.TypeDir
		case e.source != "":
			var err error
			if content, err = os.ReadFile(e.source); err != nil {
				return err
			}
		}
		header.Size = int64(len(content))
		if err := t.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}

// entry is one file of an installation.
type entry struct {
	source string // file to read; empty for a link, a directory and a text
	target string // path below the root directory, without a leading slash; a directory ends in one
	link   string // where a link points
	text   string // what a file holds that is read from nowhere
	mode   int64
	owner  int // user and group
}

// home is where the programs lie, side by side: netdyno looks for its workers
// where it lies itself.
const home = "usr/lib/netdyno"

// installed lists what is installed, in the order of paths.
func (r release) installed() ([]entry, error) {
	all := []entry{{target: "usr/bin/netdyno", link: "../lib/netdyno/netdyno", mode: 0o777}}
	for _, part := range []struct {
		from, to string
		mode     int64
	}{{"programs/" + r.arch, home, 0o755}, {"share", "usr/share", 0o644}} {
		root := filepath.Join(r.dir, part.from)
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
