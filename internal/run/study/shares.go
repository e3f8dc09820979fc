package study

import "netdyno/internal/record"

// flatOutRounds is how often each arm runs flat out before the first block where rates are
// shares of that: the quickest of three is seldom a disturbed one.
const flatOutRounds = 3

// flatOut returns the trials that tell what each arm does in a closed loop, one of each arm
// for all cells that differ only in their rate; none where no rate is a share of that. Each
// is in the first of these cells.
func (s *Study) flatOut(once []record.Trial) ([]record.Trial, error) {
	var trials []record.Trial
	seen := map[string]bool{}
	for _, t := range once {
		if key := t.FlatOutKey(); t.OfFlatOut() && !seen[key] {
			seen[key] = true
			t.Levels, t.FlatOut = t.FlatOutLevels(), true
			trials = append(trials, t)
		}
	}
	if len(trials) > 0 && (s.Mesh || s.Steered()) {
		return nil, Errorf(s.At, "a rate that is a share of an arm's own is found before blocks that run whole, and neither a mesh nor a search for a capacity nor a race has these; expected rates such as 10k, or rate.of")
	}
	return trials, nil
}

// asksFlatOut tells whether the rate of any trial may be a share of what its arm does flat
// out.
func (s *Study) asksFlatOut() bool {
	for factor, l := range s.Levels() {
		if factor == record.Rate && isShare(l.Text) {
			return true
		}
	}
	return false
}
