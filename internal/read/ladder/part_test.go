package ladder

import (
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/profile"
)

// What the profiles say of a step: parts that are told apart from noise, of how much
// they are parts; else that nothing is, and what differs most; of few probes no more
// than that.
func TestWhatTheProfilesSayOfAStep(t *testing.T) {
	copying := profile.Change{Name: "copying", Difference: 5, Low: 4, High: 6, Told: true}
	encoding := profile.Change{Name: "encode", Difference: -2, Low: -3, High: -1, Told: true}
	say := func(pairs int, activities ...profile.Change) string {
		return causeText(&Cause{Pairs: pairs, Whole: profile.Change{Difference: 3}, Activities: activities}, metric.Scale{Factor: 1})
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
