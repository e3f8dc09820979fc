package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
