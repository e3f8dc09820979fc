package ladder

import (
	"testing"

	"netdyno/internal/read/profile"
)

// Of what is told apart from noise, a slight part explains nothing; where nothing is
// left, what differs most is there, and not told.
func TestSlightActivitiesAreNoCause(t *testing.T) {
	d := profile.Difference{Pairs: 3, Whole: profile.Change{Difference: 8}, Activities: []profile.Change{
		{Name: "library", Difference: 5}, {Name: "copying", Difference: -2, Told: true}, {Name: "scheduler", Difference: 1.5}, {Name: "tls", Difference: 0.1, Told: true},
	}}
	if c := causeOf(d); len(c.Activities) != 1 || c.Activities[0].Name != "copying" {
		t.Errorf("%+v", c)
	}
	d.Activities[1].Told = false
	if c := causeOf(d); len(c.Activities) != named || c.Activities[0].Name != "library" || c.Activities[1].Told {
		t.Errorf("%+v", c)
	}
}
