package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image writes an OCI image of one layer as an archive of its layout, which
// podman load, skopeo and crane read. The image has no shell and no library.
func (r release) image() error {
	var files bytes.Buffer
	if err := r.archive(&files); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return fmt.Errorf("make the image's layer: %w", err)
	}
	image, err := mutate.AppendLayers(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1), layer)
	if err != nil {
		return fmt.Errorf("add the image's layer: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("read the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	config.Architecture, config.OS, config.Created = runtime.GOARCH, "linux", v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + home + "/netdyno"}, WorkingDir: "/work", Env: []string{"PATH=/usr/bin"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "netdyno", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return fmt.Errorf("configure the image: %w", err)
	}
	return r.archiveLayout(image)
}

// archiveLayout writes the image's layout beside the release and packs it.
func (r release) archiveLayout(image v1.Image) error {
	dir, err := os.MkdirTemp(r.dir, "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write the image's layout: %w", err)
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "netdyno:" + r.version})
	if err := l.AppendImage(image, name); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	f, err := os.Create(r.name(".oci.tar"))
	if err != nil {
		return err
	}
	t := tar.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: below, Mode: 0o644, Size: int64(len(content)), ModTime: r.time}); err != nil {
			return err
		}
		_, err = t.Write(content)
		return err
	})
	return errors.Join(err, t.Close(), f.Close())
}
