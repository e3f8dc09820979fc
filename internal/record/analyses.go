package record

import "netdyno/internal/each"

// Bound is what a metric must not exceed, or with AtLeast not fall below.
type Bound struct {
	Text    string  `json:"text"` // as the study has it: "200MB"
	Metric  string  `json:"metric"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"` // in the metric's unit, above 0
}

// Expectation is a statement, of a publication or of the study itself, that a run puts to
// the test: it holds when all of its conditions do.
type Expectation struct {
	Title      string            `json:"title,omitempty"`      // a sentence that is true or not; absent where the conditions say it
	Source     string            `json:"source,omitempty"`     // the publication; absent of a statement of the study's own
	Note       string            `json:"note,omitempty"`       // the original figures, say
	Under      map[string]string `json:"under,omitempty"`      // conditions in canonical text by factor, and ConditionRig and its like: it is tested in the cells that meet them
	Unmeasured string            `json:"unmeasured,omitempty"` // why no arm of the study can test it; then it has no conditions
	That       []string          `json:"that,omitempty"`       // conditions, as package condition reads them
}

// Name is the title, or without one the first condition.
func (e Expectation) Name() string {
	if e.Title == "" && len(e.That) > 0 {
		return e.That[0]
	}
	return e.Title
}

// Cost is a model of what an exchange, or a process, costs, which a study asks to be
// fitted for each arm: metric = a + Σ bᵢ·xᵢ, or with Per, which is n, metric = a +
// n·(b + Σ cᵢ·xᵢ). The xᵢ are numeric levels of factors. Cells with a level of
// Holdout are not fitted: they show how far the model is off.
type Cost struct {
	Title   string              `json:"title"`
	Metric  string              `json:"metric"`
	Per     string              `json:"per,omitempty"`     // the factor n: "connections"
	Terms   []string            `json:"terms"`             // the factors xᵢ: "request", "response"
	Holdout map[string][]string `json:"holdout,omitempty"` // levels by factor
	Where   map[string]string   `json:"where,omitempty"`   // only trials at these levels
}

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
	return each.Of(l.Steps, func(s Step) string { return s.Title })
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
