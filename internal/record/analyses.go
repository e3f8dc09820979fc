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
	Title      string            `json:"title,omitempty" key:"title" is:"text" doc:"a sentence that is true or not; a question stands on the first screen. The conditions themselves unless given"`
	Source     string            `json:"source,omitempty" key:"source" is:"text" doc:"the publication; none of a statement of your own"`
	Note       string            `json:"note,omitempty"`                                                                                                          // the original figures, say; of older runs
	Under      map[string]string `json:"under,omitempty" key:"under" is:"conditions" doc:"conditions that it is about: it is tested in the cells that meet them"` // in canonical text by factor, and ConditionRig and its like
	Unmeasured string            `json:"unmeasured,omitempty" key:"unmeasured" is:"text" doc:"why no arm of the study can test it, in place of that"`
	That       []string          `json:"that,omitempty" key:"that" is:"statement" doc:"one condition, or several that must all hold"`
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
	Title   string              `json:"title" key:"title" must:"yes" is:"text" doc:"what stands above it"`
	Metric  string              `json:"metric" key:"metric" must:"yes" is:"metric" doc:"metric that is modelled"`
	Per     string              `json:"per,omitempty" key:"per" is:"axis" doc:"factor that multiplies all but the constant"` // n
	Terms   []string            `json:"terms" key:"terms" must:"yes" is:"axes" doc:"factors whose levels are numbers"`       // xᵢ
	Holdout map[string][]string `json:"holdout,omitempty" key:"holdout" is:"levels" doc:"levels whose cells are not fitted, by factor"`
	Where   map[string]string   `json:"where,omitempty"` // only trials at these levels; of older runs
}

// Ladder is a sequence of arms by which a study takes a difference apart: each step
// leads from one arm to the next, and the steps together from the first to the last.
type Ladder struct {
	Title string   `json:"title,omitempty" key:"title" is:"text" doc:"what stands above it"`
	Arms  []string `json:"arms" key:"arms" must:"yes" is:"arms" doc:"three arms or more, in order"`
	Steps []Step   `json:"steps" key:"steps" is:"steps" doc:"a few words on what each step adds"` // one between each two arms
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
