package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// ofPair is a trial of a mesh.
func ofPair(id, client, server string) record.Trial {
	return record.Trial{ID: id, Block: 1, Round: 1, Levels: map[string]string{study.ClientHost: client, study.ServerHost: server}}
}

func failedBy(kind contract.ErrorKind) *record.Failure {
	return &record.Failure{Kind: kind, Text: "gone"}
}

// A host that fails with three partners is given up, its partners are not.
func TestALostHostIsGivenUp(t *testing.T) {
	l := lostHosts{}
	for i, partner := range []string{"a", "b", "c"} {
		if l.known(ofPair("next", "x", "d")) != nil {
			t.Fatalf("x is given up after %d partners", i)
		}
		l.learn(ofPair("b1-"+partner, "x", partner), failedBy(contract.Timeout))
		l.learn(ofPair("b1-other", partner, "d"), nil)
	}
	known := l.known(ofPair("next", "d", "x"))
	if known == nil || !strings.Contains(known.Text, "host x was given up for this block after b1-a and b1-b and b1-c") || !strings.HasSuffix(known.Text, "gone") {
		t.Errorf("the next trial of x: %v", known)
	}
	if other := l.known(ofPair("other", "a", "b")); other != nil {
		t.Errorf("a and b are given up: %v", other)
	}
	l.learn(ofPair("again", "x", "d"), nil)
	if l.known(ofPair("next", "x", "a")) != nil {
		t.Error("x stays given up after a trial that succeeded")
	}
}

// What proves nothing of a host does not count against it.
func TestAHostIsNotLostByThat(t *testing.T) {
	for name, learn := range map[string]func(l lostHosts){
		"one partner three times": func(l lostHosts) {
			for range partners {
				l.learn(ofPair("t", "x", "a"), failedBy(contract.Timeout))
			}
		},
		"workers that are wrong": func(l lostHosts) {
			for _, partner := range []string{"a", "b", "c"} {
				l.learn(ofPair("t", "x", partner), failedBy(contract.Invalid))
			}
		},
		"trials of no mesh": func(l lostHosts) {
			for _, partner := range []string{"a", "b", "c"} {
				alone := ofPair("t", "x", partner)
				alone.Round = 0
				l.learn(alone, failedBy(contract.Timeout))
			}
		},
	} {
		l := lostHosts{}
		learn(l)
		if known := l.known(ofPair("next", "x", "d")); known != nil {
			t.Errorf("%s: %v", name, known)
		}
	}
}
