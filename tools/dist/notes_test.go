package main

import "testing"

func TestNotesAreTheReleasesSection(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.2.0 - 2026-12-01\n\n### Added\n\n- two\n\n## 0.1.0\n\n- one\n"
	for version, want := range map[string]string{
		"Unreleased": "# netdyno Unreleased\n\n- new\n",
		"0.2.0":      "# netdyno 0.2.0 - 2026-12-01\n\n### Added\n\n- two\n",
		"0.1.0":      "# netdyno 0.1.0\n\n- one\n",
	} {
		if got, err := section(changelog, version); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", version, got, err, want)
		}
	}
	if got, err := section(changelog, "0.1"); err == nil {
		t.Errorf("a version that no section has: %q", got)
	}
}
