package source

import (
	"fmt"
	"strings"
	"testing"
)

const threeSteps = `study: x
hold: {window: 1s}
vary:
  arm:
    pooled: {transport: go-http1, request: 0B, opt.client.read: pooled}
    all: {transport: go-http1, request: 0B, opt.client.read: all}
    http2: {transport: go-http2, request: 0B, opt.client.read: all}
    grpc: {transport: go-grpc, request: 1B, tls: yes}
`

// Each step knows in which factors its two arms differ.
func TestLaddersSayWhatEachStepChanges(t *testing.T) {
	s := mustFile(t, threeSteps+"ladder: [{arms: [pooled, all, http2, grpc]}]\n")
	var changes []string
	for _, step := range s.Ladders[0].Steps {
		changes = append(changes, fmt.Sprint(step.Changes))
	}
	if got := strings.Join(changes, " "); got != "[opt.client.read] [transport] [request tls transport]" {
		t.Errorf("the steps change %s", got)
	}
	if s := mustFile(t, "study: x\nvary: {transport: [a, b, c]}\nladder: [{arms: [a, b, c]}]\n"); fmt.Sprint(s.Ladders[0].Steps) != "[{ [transport]} { [transport]}]" {
		t.Errorf("of transports: %v", s.Ladders[0].Steps)
	}
}

// The ladders of the built-in studies change one thing in each step; an override that takes an arm away takes the ladder.
func TestBuiltInLaddersHaveSingleSteps(t *testing.T) {
	for name, n := range map[string]int{"blocks": 1, "messages": 2, "messages-quick": 1, "event-loops": 1, "event-loops-quick": 1} {
		s := mustArgs(t, name)
		if len(s.Ladders) != n {
			t.Errorf("%s has %d ladders, want %d", name, len(s.Ladders), n)
		}
		for _, l := range s.Ladders {
			for i, step := range l.Steps {
				if len(step.Changes) != 1 || step.Title == "" {
					t.Errorf("%s: step %d of %q changes %v", name, i+1, l.Title, step.Changes)
				}
			}
		}
	}
	if s := mustArgs(t, "blocks", "arm=http-pooled,http2,grpc-raw"); len(s.Ladders) != 0 {
		t.Errorf("arms that are left away leave %v", s.Ladders)
	}
	if s := mustArgs(t, "blocks", "arm=http-pooled,http2,grpc-raw,grpc-unary"); len(s.Ladders) != 1 || len(s.Ladders[0].Steps[2].Changes) != 1 {
		t.Errorf("the ladder's own arms leave %v", s.Ladders)
	}
}
