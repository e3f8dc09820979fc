// Command dist packs release files: a tarball, a Debian package, an RPM, an OCI
// image, a bill of materials, release notes, and the SHA-256 sums of all of them. `make dist`
// calls it. It is a module of its own, so that netdyno does without what it needs.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// release is what is packed, and where to.
type release struct {
	dir     string // holds programs/ and share/, and takes the files
	version string
	commit  string
	time    time.Time // of the commit; every file bears it, so that a build can be repeated
	tree    []entry
	// changelog is a path: its section of the version becomes the notes.
	changelog string
}

// name is the path of a release file that ends in suffix.
func (r release) name(suffix string) string {
	return filepath.Join(r.dir, fmt.Sprintf("netdyno-%s-linux-%s%s", r.version, runtime.GOARCH, suffix))
}

func main() {
	var r release
	flag.StringVar(&r.version, "release", "", "version of the release")
	flag.StringVar(&r.commit, "commit", "", "commit that it was built from")
	flag.StringVar(&r.changelog, "changelog", "", "file whose section of the version becomes the release notes")
	seconds := flag.Int64("time", 0, "time of the commit, in seconds since 1970")
	flag.Parse()
	if r.version == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: dist -release VERSION -commit COMMIT -time SECONDS -changelog FILE DIRECTORY")
		os.Exit(2)
	}
	r.dir, r.time = flag.Arg(0), time.Unix(*seconds, 0).UTC()
	if err := r.pack(); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// pack writes every release file. The sums come last, as they are of all others.
func (r release) pack() (err error) {
	if r.tree, err = tree(r.dir); err != nil {
		return err
	}
	for _, write := range []func() error{r.tarball, r.packages, r.image, r.bill, r.notes, r.sums} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// sums writes SHA256SUMS, as sha256sum -c reads it, of every release file.
func (r release) sums() error {
	names, err := filepath.Glob(filepath.Join(r.dir, "netdyno-*"))
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range names { // sorted by Glob
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
