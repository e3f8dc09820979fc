package main

import "testing"

// Every word that a report or a command line may show is explained.
func TestEveryWordIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range glossary() {
		if len(e.lines) == 0 || e.lines[0][0] != "means" && e.group != "flag" {
			t.Errorf("%s %s has no meaning: %q", e.group, e.name, e.lines)
		}
		if seen[e.group+e.name] {
			t.Errorf("%s %s is listed twice", e.group, e.name)
		}
		seen[e.group+e.name] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d words", len(seen))
	}
}
