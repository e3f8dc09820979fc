package reach

import "testing"

// A combination may do better than the best in the blocks that they share, and its
// interval reach below the share all the same.
func TestReachSaysPerhapsOfWideIntervals(t *testing.T) {
	for _, c := range []struct {
		candidate Candidate
		want      string
	}{
		{Candidate{Share: 1, Low: 1, High: 1}, "yes"}, // the best
		{Candidate{Share: 0.97, Low: 0.95, High: 0.99}, "yes"},
		{Candidate{Share: 0.97, Low: 0.94, High: 1}, "perhaps"},
		{Candidate{Share: 1.02, Low: 0.7, High: 1.3}, "perhaps"},
		{Candidate{Share: 0.94, Low: 0.9, High: 0.98}, "perhaps not"},
		{Candidate{Share: 0.9, Low: 0.86, High: 0.94}, "no"},
	} {
		if got := reaches(c.candidate, 0.95); got != c.want {
			t.Errorf("%+v reaches 95 %%: %s, want %s", c.candidate, got, c.want)
		}
	}
}
