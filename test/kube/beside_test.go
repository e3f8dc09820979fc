package kube_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// One study runs unchanged on every kind of rig, and one page sets the runs side by side.
// They are kept by go test -artifacts.
func (b bed) testSideBySide(t *testing.T) {
	const undecided = 3 // exit status of compare
	study := []string{"transport=go-http1,go-grpc", "response=1KiB", "rate=2k", "connections=20", "blocks=6", "window=1s", "warmup=200ms"}
	kept, runs := t.ArtifactDir(), []string(nil)
	for _, rig := range []string{"loopback", "netns:2", "podman:2", "k8s:2"} {
		name, _, _ := strings.Cut(rig, ":")
		out := filepath.Join(kept, name)
		argv := slices.Concat([]string{b.netdyno, "run"}, study, []string{"--rig", rig, "--out", out})
		c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		if name == "k8s" {
			c = b.inHub(argv...)
		}
		said, _ := c.CombinedOutput() // trials that a busy machine disturbed are its status too
		t.Logf("%s", said)
		contents, err := record.Read(filepath.Join(out, record.RecordsFile))
		if err != nil || len(contents.Records) != 18 {
			t.Fatalf("%s: %d records, %v", rig, len(contents.Records), err)
		}
		for _, r := range contents.Records {
			if r.Outcome != record.OK {
				t.Errorf("%s: trial %s is %s: %v", rig, r.Trial.ID, r.Outcome, r.Failure)
			}
		}
		runs = append(runs, out)
	}
	said, err := exec.CommandContext(t.Context(), b.netdyno, append([]string{"compare"}, runs...)...).CombinedOutput()
	t.Logf("%s", said)
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != undecided) {
		t.Fatalf("compare: %v", err)
	}
	for _, rig := range []string{"loopback", "netns", "podman", "k8s"} {
		if !strings.Contains(string(said), rig) {
			t.Errorf("compare does not name %s", rig)
		}
	}
}
