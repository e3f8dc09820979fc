package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who the image's programs run as: the number that images without a
// distribution use.
const user = 65532

// system is what programs look for beside themselves: who they are, how names are
// resolved, whom to trust (Mozilla's list), and where to write. The image has no shell
// and no library.
func system() []entry {
	var trusted strings.Builder
	for root := range bundle.Roots() {
		trusted.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
	}
	return []entry{
		{target: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: trusted.String()},
		{target: "etc/passwd", mode: 0o644, text: fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\nnetdyno:x:%d:%[1]d:netdyno:/work:/sbin/nologin\n", user)},
		{target: "etc/group", mode: 0o644, text: fmt.Sprintf("root:x:0:\nnetdyno:x:%d:\n", user)},
		{target: "etc/hosts", mode: 0o644, text: "127.0.0.1 localhost\n::1 localhost\n"},
		{target: "etc/nsswitch.conf", mode: 0o644, text: "hosts: files dns\n"},
		{target: "tmp/", mode: 0o1777},
		{target: "work/", mode: 0o755, owner: user},
	}
}

// image writes an OCI image of one layer as an archive of its layout, which podman,
// skopeo and containerd read, with the manifest that docker load reads.
func (r release) image() error {
	var files bytes.Buffer
	if err := r.archive(&files, append(system(), r.tree...)); err != nil {
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
	config.Architecture, config.OS, config.Created = r.arch, "linux", v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + home + "/netdyno"}, WorkingDir: "/work", User: fmt.Sprint(user), Env: []string{"PATH=/usr/bin", "HOME=/work"},
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
	// A tag holds no +, as versions between releases do. containerd and podman take the
	// whole name from the first.
	tag := strings.ReplaceAll(r.version, "+", "-")
	name := layout.WithAnnotations(map[string]string{
		"io.containerd.image.name": "docker.io/library/netdyno:" + tag, "org.opencontainers.image.ref.name": tag})
	platform := layout.WithPlatform(v1.Platform{OS: "linux", Architecture: r.arch})
	if err := l.AppendImage(image, name, platform); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	if err := dockerManifest(dir, image, "netdyno:"+tag); err != nil {
		return fmt.Errorf("write docker's manifest: %w", err)
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

// dockerManifest writes into an image's layout what docker load reads: it finds the
// blobs where the layout has them.
func dockerManifest(dir string, image v1.Image, tag string) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	one := tarball.Descriptor{Config: blob(manifest.Config), RepoTags: []string{tag}}
	for _, layer := range manifest.Layers {
		one.Layers = append(one.Layers, blob(layer))
	}
	text, err := json.Marshal(tarball.Manifest{one})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644)
}
