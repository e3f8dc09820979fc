package best

import "testing"

// beside makes a set whose arms a, b, … have these ratios to the first with their
// intervals.
func beside(cell, metric string, ratios ...[3]float64) Set {
	s := Set{Cell: cell, Metric: metric, Arms: []Arm{{Name: "a", Standing: Open, Ratio: 1, Low: 1, High: 1}}}
	for i, r := range ratios {
		s.Arms = append(s.Arms, Arm{Name: string(rune('b' + i)), Standing: Open, Ratio: r[0], Low: r[1], High: r[2]})
	}
	return s
}

// While a run goes on, only what its intervals hold is said.
func TestWhoLeadsSoFar(t *testing.T) {
	const cost, rate = "server.cpu_us_per_exchange", "exchanges_per_s"
	ahead, near := [3]float64{1.47, 1.32, 1.64}, [3]float64{1.02, 0.9, 1.15}
	for name, c := range map[string]struct {
		sets []Set
		want string
	}{
		"a lead on a cost": {[]Set{beside("", cost, ahead)}, "so far: a with 32 % less server CPU than b (24–39 %)"},
		"a lead on a rate": {[]Set{beside("", rate, [3]float64{0.8, 0.7, 0.9})}, "so far: a with 25 % more rate than b (11–43 %)"},
		"nothing told":     {[]Set{beside("", cost, near), beside("", rate, [3]float64{0.99, 0.9, 1.1})}, "undecided so far"},
		"one of two":       {[]Set{beside("", cost, ahead), beside("", rate, [3]float64{0.99, 0.9, 1.1})}, "so far: a with 32 % less server CPU than b (24–39 %); rate undecided"},
		"both":             {[]Set{beside("", cost, ahead), beside("", rate, [3]float64{0.8, 0.7, 0.9})}, "so far: a with 32 % less server CPU than b (24–39 %); 25 % more rate than b (11–43 %)"},
		"two that lead":    {[]Set{beside("", cost, near, ahead)}, "so far: a or b by server CPU"},
		"every cell":       {[]Set{beside("connections=1", cost, ahead), beside("connections=50", cost, [3]float64{1.1, 1.05, 1.2})}, "so far: a with 9.1 to 32 % less server CPU than the next"},
		"cells that differ": {[]Set{beside("connections=1", cost, ahead), beside("connections=50", cost, near)},
			"so far: server CPU a at 1 connection, undecided at 50 connections"},
		"more metrics than a line holds": {[]Set{
			beside("connections=1", cost, ahead), beside("connections=50", cost, near), beside("connections=1000", cost, near, ahead),
			beside("connections=1", rate, near), beside("connections=1", "response_p99", near)},
			"so far: server CPU a at 1 connection, undecided at 50 connections, a or b at 1,000 connections; rate undecided; and 1 more metric"},
		"an interval without an end": {[]Set{beside("", rate, [3]float64{0.5, 0, 0.9})}, "so far: a with 100 % more rate than b (11 % or more)"},
		"not to be compared":         {[]Set{arms("", cost, Unknown, Unknown)}, "undecided so far"},
	} {
		if got := (&Judged{Sets: c.sets}).SoFar(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (*Judged)(nil).SoFar(); got != "" {
		t.Errorf("nothing judged: %q", got)
	}
}
