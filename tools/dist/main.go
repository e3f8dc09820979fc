// Command dist packs release files: a tarball, a Debian package, an RPM, an OCI image,
// a bill of materials, release notes, and the SHA-256 sums of all of them. `make dist`
// calls it. The command is a module of its own, so that netdyno's module does without
// the libraries of packing.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// release is what is packed, and where to.
type release struct {
	dir     string // holds programs/ARCH, and takes the files
	version string
	arch    string // as Go calls it
	commit  string
	time    time.Time // of the commit; every file bears it, so that a build can be repeated
	tree    []entry
	// changelog is a path: its section of the version becomes the notes.
	changelog string
}

// name is the path of a release file that ends in suffix.
func (r release) name(suffix string) string {
	return filepath.Join(r.dir, fmt.Sprintf("netdyno-%s-linux-%s%s", r.version, r.arch, suffix))
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
	if err := r.all(); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// all writes every release file. The sums come last, as they are of all others.
func (r release) all() error {
	if err := r.manual(); err != nil {
		return err
	}
	built, err := os.ReadDir(filepath.Join(r.dir, "programs"))
	if err != nil {
		return err
	}
	for _, arch := range built {
		r.arch = arch.Name()
		if err := r.pack(); err != nil {
			return fmt.Errorf("%s: %w", r.arch, err)
		}
	}
	return errors.Join(r.notes(), r.sums())
}

// pack writes what is of one architecture.
func (r release) pack() error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	if err := r.licences(linked); err != nil {
		return err
	}
	if r.tree, err = r.installed(); err != nil {
		return err
	}
	for _, write := range []func() error{r.tarball, r.packages, r.image, func() error { return r.bill(linked) }} {
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

// unreleased heads the changes since the last release.
const unreleased = "Unreleased"

// notes writes what changed: the release's section of the changelog. A build between
// releases, 0.1.0-12-gab12cd or 0.0.0+gab12cd, has the section of what is unreleased.
func (r release) notes() error {
	changelog, err := os.ReadFile(r.changelog)
	if err != nil {
		return err
	}
	heading := r.version
	if strings.ContainsAny(heading, "-+") {
		heading = unreleased
	}
	text, err := section(string(changelog), heading)
	if err != nil {
		return fmt.Errorf("%s: %w", r.changelog, err)
	}
	name := filepath.Join(r.dir, fmt.Sprintf("netdyno-%s.md", r.version))
	return os.WriteFile(name, []byte(text), 0o644)
}

// section is what stands under a heading of the second level that begins with the
// version, as in "## 0.1.0 - 2026-11-26", up to the next such heading.
func section(changelog, version string) (string, error) {
	for part := range strings.SplitSeq("\n"+changelog, "\n## ") {
		heading, body, _ := strings.Cut(part, "\n")
		if fields := strings.Fields(heading); len(fields) > 0 && strings.Trim(fields[0], "[]") == version {
			return "# netdyno " + heading + "\n" + strings.TrimRight(body, "\n") + "\n", nil
		}
	}
	return "", fmt.Errorf("no section %q: every release has one", "## "+version)
}
