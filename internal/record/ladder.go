package record

// Ladder is a sequence of arms by which a study takes a difference apart: each step
// leads from one arm to the next, and the steps together from the first to the last.
type Ladder struct {
	Title string   `json:"title,omitempty"`
	Arms  []string `json:"arms"`  // three or more levels of the compared factor, in order
	Steps []Step   `json:"steps"` // one between each two arms
}

// Step leads from one arm of a ladder to the next.
type Step struct {
	Title   string   `json:"title,omitempty"`   // what it adds, in the study's words
	Changes []string `json:"changes,omitempty"` // the factors and options in which the two arms differ; one, unless the planner warns
}

// Titles returns those of the steps; nil when no step has one.
func (l Ladder) Titles() []string {
	if len(l.Steps) == 0 || l.Steps[0].Title == "" {
		return nil
	}
	titles := make([]string, len(l.Steps))
	for i, s := range l.Steps {
		titles[i] = s.Title
	}
	return titles
}

// Pairs returns the two arms of each step, the later one divided by the earlier, and
// behind them the last and the first.
func (l Ladder) Pairs() []Pair {
	var all []Pair
	for i := 1; i < len(l.Arms); i++ {
		all = append(all, Pair{Arm: l.Arms[i], Base: l.Arms[i-1]})
	}
	if n := len(l.Arms); n > 2 {
		all = append(all, Pair{Arm: l.Arms[n-1], Base: l.Arms[0]})
	}
	return all
}
