package report

import (
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/profile"
)

// What the profiles say of a step: parts that are told apart from noise, of how much
// they are parts; else that nothing is, and what differs most; of few probes no more
// than that.
func TestWhatTheProfilesSayOfAStep(t *testing.T) {
	copying := profile.Change{Name: "copying", Difference: 5, Low: 4, High: 6, Told: true}
	encoding := profile.Change{Name: "encode", Difference: -2, Low: -3, High: -1, Told: true}
	say := func(pairs int, activities ...profile.Change) string {
		return causeText(&ladder.Cause{Pairs: pairs, Whole: profile.Change{Difference: 3}, Activities: activities}, metric.Scale{Factor: 1})
	}
	noise := copying
	noise.Told = false
	for want, got := range map[string]string{
		"of +3.00: copying +5.00 (4.00–6.00); encode −2.00 (−3.00 to −1.00)":            say(3, copying, encoding),
		"of +3.00: nothing told apart from noise (most: copying +5.00)":                 say(3, noise),
		"of +3.00: nothing told apart from noise":                                       say(3),
		"of +3.00: copying +5.00 (4.00–6.00) (2 pairs of probes: three give intervals)": say(2, noise),
		"": causeText(nil, metric.Scale{Factor: 1}),
	} {
		if got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

// One table of all is open; a step that several changes make up is noted once, and
// arms that are left out are named.
func TestALaddersNotesAndFolds(t *testing.T) {
	f := sample(6)
	f.Ladders[0].Splits[1].LeftOut = []string{"netpoll"}
	f.Ladders = append(f.Ladders, f.Ladders[0])
	parts := New(f).Ladders
	if len(parts) != 2 || parts[0].Cells[0].Table.Folded || !parts[0].Cells[1].Table.Folded || !parts[1].Cells[0].Table.Folded {
		t.Fatalf("%d parts, not one open table", len(parts))
	}
	notes := strings.Join(parts[0].Notes, "\n")
	if strings.Count(notes, "several things at once") != 1 || !strings.Contains(notes, "at 10,000 connections, and left out: netpoll.") {
		t.Errorf("%q", notes)
	}
}
