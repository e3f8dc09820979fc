package generate

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

func TestAnArchiveStaysInItsDirectory(t *testing.T) {
	for name, header := range map[string]tar.Header{
		"a parent":    {Name: "../x", Typeflag: tar.TypeReg},
		"an absolute": {Name: "/tmp/x", Typeflag: tar.TypeReg},
		"a link":      {Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
		"a device":    {Name: "x", Typeflag: tar.TypeChar},
		"dots inside": {Name: "a/../../x", Typeflag: tar.TypeReg},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		directory := filepath.Join(t.TempDir(), "in")
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unpack(archive.Bytes(), directory); err == nil {
			t.Errorf("%s is unpacked", name)
		}
		if left, err := os.ReadDir(filepath.Dir(directory)); err != nil || len(left) != 1 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
	if err := unpack([]byte("no archive"), t.TempDir()); err == nil {
		t.Error("what is no archive is unpacked")
	}
}

func TestAPackageIsFoundInItsModule(t *testing.T) {
	found, err := modules(fstest.MapFS{
		"go.mod":             {Data: []byte("// a comment\nmodule netdyno\n\ngo 1.26\n")},
		"workers/gin/go.mod": {Data: []byte("module netdyno/workers/gin\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, want := range map[string]string{
		"netdyno/cmd/x": ".", "netdyno/workers/gin/x": "workers/gin", "netdyno/workers/ginger": ".", "netdynos/x": "", "-x": "", "": "",
	} {
		if got := moduleOf(pkg, found); got != want {
			t.Errorf("%q is of module %q, want %q", pkg, got, want)
		}
	}
	for _, bad := range []fstest.MapFS{{}, {"go.mod": {Data: []byte("go 1.26\n")}}, {"a/go.mod": {Data: []byte("module a\n")}}} {
		if _, err := modules(bad); err == nil {
			t.Errorf("%v has modules", bad)
		}
	}
}

// What is kept could be run: nobody else may have put it there.
func TestACacheOfOthersIsRefused(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(open); err != nil {
		t.Errorf("mode 0700: %v", err)
	}
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(open); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("mode 0770: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(link); err == nil {
		t.Error("a link to another directory is taken")
	}
}

// What protoc-gen-go answers is written under names that were asked for alone.
func TestOnlyFilesThatWereAskedForAreTaken(t *testing.T) {
	g, err := generationOf(resolved(t).Descriptors, "netdyno/own")
	if err != nil {
		t.Fatal(err)
	}
	var request pluginpb.CodeGeneratorRequest
	if err := proto.Unmarshal(g.request, &request); err != nil {
		t.Fatal(err)
	}
	if text := request.GetParameter() + strings.Join(request.FileToGenerate, " "); strings.Contains(text, "own,") || strings.Contains(text, "exchange") || strings.Contains(text, "example") {
		t.Errorf("text of the user's stands in what protoc-gen-go is told: %s", text)
	}
	answer := func(names ...string) []byte {
		var response pluginpb.CodeGeneratorResponse
		for _, name := range names {
			response.File = append(response.File, &pluginpb.CodeGeneratorResponse_File{Name: proto.String(name), Content: proto.String("package p")})
		}
		data, err := proto.Marshal(&response)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if files, err := g.files(answer("f0.pb.go", "f1.pb.go")); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	for _, bad := range [][]string{{"f0.pb.go"}, {"f0.pb.go", "f1.pb.go", "f2.pb.go"}, {"../f0.pb.go", "f1.pb.go"}} {
		if _, err := g.files(answer(bad...)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAComplaintIsOnePrintableLine(t *testing.T) {
	for said, want := range map[string]string{
		"# netdyno/x\n\ninternal/x.go:1: \x1b[31mbad\n": "internal/x.go:1:  [31mbad",
		"":                              "it says nothing",
		"go: downloading a v1\ngo: b\n": "go: b",
	} {
		if got := complaint(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	if got := complaint(strings.Repeat("ü", 1000)); len(got) > 310 {
		t.Errorf("a complaint has %d bytes", len(got))
	}
}
