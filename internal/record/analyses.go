package record

import "netdyno/internal/each"

// Bound is what a metric must not exceed, or with AtLeast not fall below.
type Bound struct {
	Text    string  `json:"text"` // as the study has it: "200MB"
	Metric  string  `json:"metric"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"` // in the metric's unit, above 0
}

// Claim is what a publication, or the study, says of its arms: it holds when
// every part of it does.
type Claim struct {
	Title      string            `json:"title"`                // as a sentence that is true or not
	Source     string            `json:"source,omitempty"`     // the publication; absent of a claim of the study's own
	Under      map[string]string `json:"under,omitempty"`      // as Published.Under: where the claim is about; it is tested in the cells that meet it
	Unmeasured string            `json:"unmeasured,omitempty"` // why no arm of the study can test it; then it has no parts
	Parts      []ClaimPart       `json:"parts"`
}

// ClaimKind is the form of a claim's part.
type ClaimKind string

// The forms of a claim's part.
const (
	Same     ClaimKind = "same"     // each arm differs from the base by less than the margin
	Higher   ClaimKind = "higher"   // each arm exceeds the base by more than the margin
	Lower    ClaimKind = "lower"    // each arm falls short of the base by more than the margin
	Sized    ClaimKind = "ratio"    // each arm's ratio to the base is Of, within the margin
	Steadier ClaimKind = "steadier" // the arms' ratios to the base vary less from cell to cell than those of Than
	Above    ClaimKind = "above"    // each arm's own figure lies above Of; there is no base
	Below    ClaimKind = "below"    // it lies below
	Near     ClaimKind = "near"     // it is Of, within the margin
)

// TheLink is the base of a claim about the link itself: a goodput is divided by the link's
// declared rate. No arm has this name.
const TheLink = "link"

// ClaimPart is one condition, in every cell that has the levels of Where. It is about a
// metric, about the share that something has of an end's CPU profile, or about a
// coefficient of one of the study's fits. With From it is about the ratio there divided by
// the ratio at the levels of From, an interaction; of a profile, about the difference of
// the two shares.
type ClaimPart struct {
	Metric  string    `json:"metric,omitempty"`
	Profile string    `json:"profile,omitempty"` // an activity, or a function with what it calls
	End     string    `json:"end,omitempty"`     // whose profile: "server" or "client"
	Fit     string    `json:"fit,omitempty"`     // title of the fit
	Term    string    `json:"term,omitempty"`    // factor of the coefficient
	Is      ClaimKind `json:"is"`                // same, higher, lower, ratio, steadier, above, below, near
	Arms    []string  `json:"arms,omitempty"`
	Base    string    `json:"base,omitempty"` // an arm, or TheLink; none of a figure of its own

	BaseWhere map[string]string `json:"base_where,omitempty"` // levels of the base, where it is measured in another cell

	Than   []string          `json:"than,omitempty"` // of steadier
	Of     float64           `json:"of,omitempty"`   // of ratio, above, below and near
	Margin float64           `json:"margin"`         // ratio − 1 within which figures are the same
	Where  map[string]string `json:"where,omitempty"`
	From   map[string]string `json:"from,omitempty"` // instead of the levels of Where, of the same factors and others
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

// LinkQuestion is what a study asks of the link that its trials go through: whether TCP
// fills the link, with how few connections and requests, and what else is worth its
// place. The link's rate is declared and never measured: by factor link.rate, or by the
// card.
type LinkQuestion struct {
	TCP   []string          `json:"tcp"`             // arms that are plain TCP
	Share float64           `json:"share"`           // of the link's rate, headers counted, from which on it is full
	Where map[string]string `json:"where,omitempty"` // only trials at these levels
}

// Pays is a replacement that a study weighs: what the CPU time is worth that some
// arms save over others which move the same work.
type Pays struct {
	Title      string            `json:"title"` // what would be bought: "RDMA"
	Arms       []string          `json:"arms"`  // that have it
	InsteadOf  []string          `json:"instead_of"`
	Unmeasured string            `json:"unmeasured,omitempty"` // why no arm of the study can weigh it; then it has no arms
	At         int64             `json:"at,omitempty"`         // bits per second that the saved cores are of; 0: the link's
	Where      map[string]string `json:"where,omitempty"`      // only trials at these levels
}
