package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
	"netdyno/test/synthetic"
)

// Every profile that the report links to lies beside it, whatever the arm is called.
func TestProfilesLieBesideTheReport(t *testing.T) {
	f, err := finding.Find(synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "../\"><script>" + steering}}, Blocks: 1, Connections: []int{50}, Bare: true,
		Probes: []synthetic.Stack{{Functions: []string{"main.serve"}, CPU: time.Second}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	d := session.Directory(t.TempDir())
	if err := writeProfiles(d, f.ProfileFiles); err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.New(f).HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Profiles {
		data, err := os.ReadFile(filepath.Join(d.Profiles(), p.File))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := profile.Parse(data); err != nil || !strings.Contains(page.String(), `href="profiles/`+p.File+`"`) {
			t.Errorf("%s: %v; or no link to it", p.File, err)
		}
	}
	if len(f.Profiles) != 4 {
		t.Errorf("%d profiles, want 4", len(f.Profiles))
	}
}

// What is not a directory is left as it is.
func TestProfilesNeedADirectory(t *testing.T) {
	d := session.Directory(t.TempDir())
	write(t, d.Profiles(), []byte("mine"))
	if err := writeProfiles(d, &profile.Files{}); err == nil || !strings.Contains(err.Error(), "profiles is not a directory") {
		t.Error(err)
	}
	if err := writeProfiles(session.Directory(t.TempDir()), nil); err != nil {
		t.Errorf("a run without probes: %v", err)
	}
}
