package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

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
	// nfpm changes what it is given, so that each format has its own.
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "netdyno", Arch: runtime.GOARCH, Platform: "linux",
		Version: r.version, VersionSchema: "none", Release: "1",
		Section: "net", Priority: "optional", License: "Apache-2.0", MTime: r.time,
		Maintainer:  "The netdyno authors <netdyno@localhost>",
		Description: "Dynamometer for network transports\nnetdyno runs the same work through every way to move data and says\nwhich to use, what it costs, what limited it, and how certain that is.",
		Overridables: nfpm.Overridables{
			// Arms of built-in studies; without them those arms stay empty.
			Suggests: []string{"iperf3", "iperf", "sockperf"},
			Contents: r.contents(),
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
