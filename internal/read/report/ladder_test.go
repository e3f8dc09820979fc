package report

import (
	"strings"
	"testing"
)

// One table of all is open; a step that several changes make up is noted once, and
// arms that are left out are named.
func TestALaddersNotesAndFolds(t *testing.T) {
	f := sample(6)
	f.Ladders[0].Splits[1].LeftOut = []string{"netpoll"}
	f.Ladders = append(f.Ladders, f.Ladders[0])
	parts := sectionsOf(New(f), "ladders")
	if len(parts) != 2 || parts[0].Tables[0].Folded || !parts[0].Tables[1].Folded || !parts[1].Tables[0].Folded {
		t.Fatalf("%d parts, not one open table", len(parts))
	}
	notes := strings.Join(parts[0].Notes, "\n")
	if strings.Count(notes, "several things at once") != 1 || !strings.Contains(notes, "at 10,000 connections, and left out: netpoll.") {
		t.Errorf("%q", notes)
	}
}
