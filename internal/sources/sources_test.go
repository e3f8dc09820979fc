package sources

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestSourcesAreTheFilesOfABuild(t *testing.T) {
	trees := map[string]fs.FS{
		"workers/x": fstest.MapFS{"go.mod": {Data: []byte("module x")}},
		".": fstest.MapFS{
			"go.mod": {Data: []byte("module netdyno")}, "a/a.go": {Data: []byte("package a")},
			"a/a_test.go": {Data: []byte("package a")}, "a/testdata/big": {Data: []byte("x")},
		},
	}
	var first, second bytes.Buffer
	if err := errors.Join(Write(&first, trees), Write(&second, trees)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("written twice they differ")
	}
	var names []string
	for archive := tar.NewReader(&first); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name+": "+string(text))
	}
	want := []string{"a/a.go: package a", "go.mod: module netdyno", "workers/x/go.mod: module x"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestAPackedArchiveIsTheArchive(t *testing.T) {
	var packed, got bytes.Buffer
	to := gzip.NewWriter(&packed)
	if _, err := to.Write([]byte("archive")); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(&got, packed.String()); err != nil || got.String() != "archive" {
		t.Errorf("unpacked %q, %v", got.String(), err)
	}
	if err := Unpack(&got, packed.String()[:packed.Len()-4]); err == nil {
		t.Error("a torn archive is unpacked without an error")
	}
}
