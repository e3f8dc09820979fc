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

// What troff would take for its own stands on a page as it is, and all commands have one.
func TestAManPageIsTheHelp(t *testing.T) {
	if got, want := roff(".de is no macro\n.nor this\n  a\\b  --all it's"), "\\&.de is no macro\n\\&.nor this\n  a\\eb  \\-\\-all it\\(aqs"; got != want {
		t.Errorf("the page is %q, want %q", got, want)
	}
	if got := commandsOf("Weigh.\n\nAvailable Commands:\n  help  Help\n  weigh Weigh\n\nFlags:\n"); len(got) != 1 || got[0] != "weigh" {
		t.Errorf("commands %q, want weigh", got)
	}
}
