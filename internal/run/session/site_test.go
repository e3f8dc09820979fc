package session

import (
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
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
