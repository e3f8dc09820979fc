package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// tarball packs the tree below usr/, to be unpacked in / or anywhere else.
func (r release) tarball() error {
	f, err := os.Create(r.name(".tar.gz"))
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(r.archive(z), z.Close(), f.Close())
}

// archive writes the tree as tar(5).
func (r release) archive(w io.Writer) error {
	t := tar.NewWriter(w)
	for _, e := range r.tree {
		header := tar.Header{Name: e.target, Mode: e.mode, ModTime: r.time, Format: tar.FormatPAX}
		var content []byte
		if e.link != "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		} else {
			var err error
			if content, err = os.ReadFile(e.source); err != nil {
				return err
			}
			header.Typeflag, header.Size = tar.TypeReg, int64(len(content))
		}
		if err := t.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}
