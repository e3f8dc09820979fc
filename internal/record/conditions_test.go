package record_test

import (
	"slices"
	"testing"

	"netdyno/internal/record"
)

func TestRigKindOfEveryName(t *testing.T) {
	for name, want := range map[string]string{
		"loopback": "loopback", "netns:3": "netns", "netns:2?mtu=9000": "netns", "ssh:a,b": "ssh", "slurm": "slurm", "slurm?time=1": "slurm",
		"prefix of lab.yaml": "prefix", "at:10.0.0.1:80": "at", "netns of rigs/two hosts.yaml": "netns", "": "",
	} {
		kind := record.RigKind(name)
		if kind != want || kind != "" && !slices.Contains(record.RigKinds(), kind) {
			t.Errorf("%q: kind %q, want %q", name, kind, want)
		}
	}
}
