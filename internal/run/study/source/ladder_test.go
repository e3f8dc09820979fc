package source

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"netdyno/internal/run/study"
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

// Each step knows in which factors its two arms differ, and a warning names only a step
// that changes several.
func TestLaddersSayWhatEachStepChanges(t *testing.T) {
	s := mustFile(t, threeSteps+"ladder: {arms: [pooled, all, http2, grpc]}\n")
	var changes []string
	for _, step := range s.Ladders[0].Steps {
		changes = append(changes, fmt.Sprint(step.Changes))
	}
	if got := strings.Join(changes, " "); got != "[opt.client.read] [transport] [request tls transport]" {
		t.Errorf("the steps change %s", got)
	}
	var warned []string
	for _, w := range warningsOf(t, s) {
		if strings.HasPrefix(w, "ladder") {
			warned = append(warned, w)
		}
	}
	if want := "ladder: the step from http2 to grpc differs in request, tls and transport, so its ratio is that of all of them together"; len(warned) != 1 || warned[0] != want {
		t.Errorf("warned of %q", warned)
	}
	if s := mustFile(t, "study: x\nvary: {transport: [a, b, c]}\nladder: {arms: [a, b, c]}\n"); fmt.Sprint(s.Ladders[0].Steps) != "[{ [transport]} { [transport]}]" {
		t.Errorf("of transports: %v", s.Ladders[0].Steps)
	}
}

func warningsOf(t *testing.T, s *study.Study) []string {
	t.Helper()
	_, warnings, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.About+": "+w.Text)
	}
	return texts
}

// What is written of a study's ladders is read back.
func TestLaddersAreReadBack(t *testing.T) {
	s := mustFile(t, threeSteps+`ladder:
  - {title: "Why: it costs more", arms: [pooled, all, http2], steps: [a buffer, "HTTP/2, frames"]}
  - {arms: [all, http2, grpc]}
`)
	text, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	if again := mustFile(t, string(text)); len(s.Ladders) != 2 || !reflect.DeepEqual(again.Ladders, s.Ladders) {
		t.Errorf("read back %+v\nwas %+v, written\n%s", again.Ladders, s.Ladders, text)
	}
}

// The ladders of the built-in studies change one thing in each step, so nothing is
// warned of; an override that takes an arm away takes the ladder.
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
