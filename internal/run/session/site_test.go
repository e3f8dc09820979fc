package session

import (
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

func TestLeavesOfARigFileAreFacts(t *testing.T) {
	s := &site{facts: map[string]record.Host{"a": {Values: map[string]string{}}, "node7": {Values: map[string]string{}}, "c": {Values: map[string]string{}}}}
	s.enterLeaves([]rig.Described{{Name: "a", Leaf: "left"}, {Node: "node7", Leaf: "right\x1b[2J"}, {Name: "c"}, {Name: "gone", Leaf: "left"}})
	for host, want := range map[string]string{"a": "left", "node7": "right·[2J", "c": ""} {
		if got := s.facts[host].Values[record.LeafFact]; got != want {
			t.Errorf("%s hangs on %q, expected %q", host, got, want)
		}
	}
}

// A rig of one network refuses a study that names networks, by its name and with the rigs
// that have several.
func TestARigOfOneNetworkIsRefused(t *testing.T) {
	s := &site{rig: rig.Loopback{}}
	if err := s.network([]Kind{{}}); err != nil {
		t.Errorf("trials that name no network: %v", err)
	}
	err := s.network([]Kind{{Work: study.Work{Hosts: study.Hosts{Network: "bridge"}}}})
	if err == nil || !strings.Contains(err.Error(), "rig loopback has one network (network); --rig podman, docker or k8s has several") {
		t.Errorf("a network on loopback: %v", err)
	}
}
