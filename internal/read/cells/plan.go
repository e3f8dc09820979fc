package cells

import (
	"cmp"
	"regexp"
	"strings"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Plan is what readers need of a study: what it compared, varied and held, when it ends, what
// it asks, what its parts are called, and of what kind it is. It is made once, where a run is
// read; nobody else reads a header's study.
type Plan struct {
	Name      string
	Question  string
	Directory string // where the run was read from; "" when it is not known
	Run       string // that directory's name
	Seed      uint64
	Compare   record.Compare
	Recommend []string // metrics in the order in which they weigh; the primary ones alike where there are none
	Reference []string // arms that stand beside the others as bounds, and are never what to use
	Vary      []record.Factor
	Hold      map[string]string
	Ends
	Asked
	Names Names
	Kind  Kind
	Said
}

// Ends say when a run is judged, and ends.
type Ends struct {
	Blocks  int          // that the run does by itself, at most
	Looks   []int        // blocks after which it is judged, rising
	Stopped *record.Stop // the look at which it ended; nil for none
	Within  float64      // of a run with one arm: the share within which each rate must be known; 0 for none
	TimeS   float64      // that this may take after the first block; 0 for no bound
}

// Asked is what a run's report has besides figures and comparisons.
type Asked struct {
	Charts   []record.Chart
	Costs    []record.Cost
	Expect   []record.Expectation
	Ladders  []record.Ladder
	Requires []record.Require
}

// Said is what was known of a run before its first trial.
type Said struct {
	Busy    []string         // why the machine was not the run's alone
	Warned  []record.Warning // the planner's other warnings
	LeftOut []string         // cells that an earlier release left out
	Retired []string         // keys of an earlier release, which are not evaluated
}

// PlanOf takes a run's plan from its header.
func PlanOf(h record.Header) Plan {
	s := h.Study
	busy, warned := trial.BusyBefore(s.Warnings)
	return Plan{
		Name: s.Name, Question: s.Question, Directory: h.Directory, Run: h.RunName(), Seed: s.Seed,
		Compare: s.Compare, Recommend: s.Recommend, Reference: s.Reference, Vary: s.Vary, Hold: s.Hold,
		Ends:  Ends{s.Blocks, s.Looks(), h.StoppedAt(), s.Settle, s.SettleS},
		Asked: Asked{s.Charts, s.Costs, s.Expect, s.Ladders, s.Requires},
		Names: Names{s.Compare.Factor, s.Labels}, Kind: kindOf(s),
		Said: Said{busy, warned, s.LeftOut, s.Retired.Keys()},
	}
}

// plainWord matches what a shell reads as it stands.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// GoOn is the command that goes on with the run.
func (s Plan) GoOn() string {
	directory := cmp.Or(s.Directory, "DIR")
	if !plainWord.MatchString(directory) {
		directory = "'" + strings.ReplaceAll(directory, "'", `'\''`) + "'"
	}
	return "netdyno run " + directory + " --continue"
}

// Kind is what sort of run a study makes. It says what is judged of the run, and which parts
// its report has; nobody else asks the study.
type Kind struct {
	Name     string
	Compares bool   // arms are judged against each other: no figure chose what was run
	Requires bool   // and held against bounds
	Cells    bool   // each cell is a question of its own, and has a section
	Steered  bool   // figures chose which of the planned blocks were run
	Lead     string // the part of its report that shows the answer; "" where the arms' figures do
	Ended    bool   // the user may end it at any time: what is missing is no loss

	Rates    *record.Capacity // that it looks for
	Race     *record.Race     // that its arms run
	Partners int              // of a mesh: with how many others each host is measured; 0 for all
}

// The names of the kinds.
const (
	Comparing = "comparison"
	Settling  = "settling"
	Mesh      = "mesh"
	Searching = "search"
	Tuning    = "tuning"
)

func kindOf(s record.Study) Kind {
	switch {
	case s.Capacity != nil:
		return Kind{Name: Searching, Steered: true, Lead: "search", Rates: s.Capacity}
	case s.Race != nil:
		return Kind{Name: Tuning, Requires: true, Cells: true, Steered: true, Race: s.Race}
	case s.Mesh:
		return Kind{Name: Mesh, Compares: true, Requires: true, Lead: "charts", Partners: s.Partners}
	case s.Settle > 0:
		return Kind{Name: Settling, Compares: true, Requires: true, Cells: true, Ended: true}
	}
	return Kind{Name: Comparing, Compares: true, Requires: true, Cells: true}
}
