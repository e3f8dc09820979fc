package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/run/rig"
)

// programs is the directory of an image for what the rig was told to bring.
const programs = "/netdyno"

// image is what containers are made from: netdyno's programs, the shared libraries that
// these are linked with, and a directory for temporary files. There is no shell in it.
type image struct {
	files   []file
	there   map[string]string // where a file of this host lies in it
	search  []string          // directories of shared libraries
	layer   blob
	config  []byte
	content string // SHA-256 of its configuration, which names the layer's: same content, same image
}

// file is one of an image, under an absolute path.
type file struct {
	path, from string
	mode       int64
}

// blob names content by its digest, as images do.
type blob struct {
	sum  string // SHA-256, in hexadecimal
	size int64
}

// newImage looks at files of this host, which must not change until the image is
// written.
func newImage(ctx context.Context, sources []string) (*image, error) {
	m := &image{there: map[string]string{}}
	libraries := map[string]bool{}
	for _, from := range sources {
		sum, err := rig.HashFile(from)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(from)
		if err != nil {
			return nil, err
		}
		const brief = 16 // digits that tell contents apart
		at := path.Join(programs, sum[:brief], filepath.Base(from))
		m.there[from] = at
		m.files = append(m.files, file{at, from, int64(info.Mode().Perm() | 0o444)})
		linked, err := librariesOf(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, l := range linked {
			libraries[l] = true
		}
	}
	for l := range libraries {
		m.files = append(m.files, file{l, l, 0o755})
		if d := path.Dir(l); !slices.Contains(m.search, d) {
			m.search = append(m.search, d)
		}
	}
	slices.SortFunc(m.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	m.files = slices.CompactFunc(m.files, func(a, b file) bool { return a.path == b.path })
	slices.Sort(m.search)
	h := sha256.New()
	counted := &counter{to: h}
	if err := m.writeLayer(counted); err != nil {
		return nil, err
	}
	m.layer = blob{hex.EncodeToString(h.Sum(nil)), counted.n}
	var err error
	m.config, err = json.Marshal(m.configuration())
	m.content = digest(m.config)
	return m, err
}

// librariesOf returns the shared libraries of a program, its interpreter among them, as
// the interpreter finds them here; none of what is no program, or is linked with nothing.
// Source: ld.so(8), --list.
func librariesOf(ctx context.Context, program string) ([]string, error) {
	f, err := elf.Open(program)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) {
			return nil, nil // a script, or data
		}
		return nil, err
	}
	defer f.Close()
	at := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if at < 0 {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(f.Progs[at].Open(), 4<<10)) // a path
	if err != nil {
		return nil, err
	}
	interpreter := string(bytes.TrimRight(text, "\x00"))
	said, err := exec.CommandContext(ctx, interpreter, "--list", program).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("find the libraries of %s: %w: %.300s", program, err, bytes.TrimSpace(said))
	}
	found := []string{interpreter}
	for line := range strings.Lines(string(said)) {
		// "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f…)"
		_, where, is := strings.Cut(line, " => ")
		where, _, _ = strings.Cut(strings.TrimSpace(where), " (")
		if is && path.IsAbs(where) {
			found = append(found, where)
		}
	}
	return found, nil
}

// writeLayer writes the files as a tar archive whose bytes depend on their content alone.
func (m *image) writeLayer(w io.Writer) error {
	t := tar.NewWriter(w)
	made := map[string]bool{"/": true}
	directory := func(at string, mode int64) error {
		made[at] = true
		return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: at[1:] + "/", Mode: mode})
	}
	if err := directory("/tmp", 0o1777); err != nil {
		return err
	}
	for _, f := range m.files {
		parts := strings.Split(path.Dir(f.path)[1:], "/")
		for i := range parts {
			if at := "/" + path.Join(parts[:i+1]...); !made[at] {
				if err := directory(at, 0o755); err != nil {
					return err
				}
			}
		}
		if err := copyInto(t, f); err != nil {
			return fmt.Errorf("copy %s into an image: %w", f.from, err)
		}
	}
	return t.Close()
}

func copyInto(t *tar.Writer, f file) error {
	from, err := input.Open(f.from)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path[1:], Mode: f.mode, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(t, from)
	return err
}

// configuration is what an image says of its containers.
// Source: OCI Image Specification 1.0.2, config.md, manifest.md, image-layout.md.
func (m *image) configuration() any {
	environment := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	if len(m.search) > 0 {
		environment = append(environment, "LD_LIBRARY_PATH="+strings.Join(m.search, ":"))
	}
	return map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Env": environment},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + m.layer.sum}},
	}
}

// archive writes the image under a name, as an archive of both forms in one: an OCI
// layout, and what docker of any age reads.
func (m *image) archive(w io.Writer, name string) error {
	const prefix, blobs = "application/vnd.oci.image.", "blobs/sha256/"
	described := func(kind, sum string, size int64) map[string]any {
		return map[string]any{"mediaType": prefix + kind, "digest": "sha256:" + sum, "size": size}
	}
	manifest, err1 := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": prefix + "manifest.v1+json",
		"config": described("config.v1+json", m.content, int64(len(m.config))),
		"layers": []any{described("layer.v1.tar", m.layer.sum, m.layer.size)},
	})
	entry := described("manifest.v1+json", digest(manifest), int64(len(manifest)))
	entry["annotations"] = map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
	index, err2 := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []any{entry}})
	docker, err3 := json.Marshal([]any{map[string]any{
		"Config": blobs + m.content, "RepoTags": []string{name}, "Layers": []string{blobs + m.layer.sum},
	}})
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, f := range []struct {
		name string
		text []byte
	}{
		{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"index.json", index},
		{"manifest.json", docker},
		{blobs + m.content, m.config},
		{blobs + digest(manifest), manifest},
	} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(f.text))}); err != nil {
			return err
		}
		if _, err := t.Write(f.text); err != nil {
			return err
		}
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: blobs + m.layer.sum, Mode: 0o644, Size: m.layer.size}); err != nil {
		return err
	}
	if err := m.writeLayer(t); err != nil {
		return err
	}
	return t.Close()
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// counter counts what passes.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}
