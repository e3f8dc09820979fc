package cells

import "netdyno/internal/record"

// Plan is what readers need of a study: what it compared, varied and held, what its parts are
// called, and of what kind it is. It is made once, where a run is read.
type Plan struct {
	Name      string
	Question  string
	Compare   record.Compare
	Recommend []string // metrics in the order in which they weigh; the primary ones alike where there are none
	Vary      []record.Factor
	Hold      map[string]string
	Blocks    int // that the run does by itself, at most
	Names     Names
	Kind      Kind
}

// PlanOf takes a study's plan from a run's header.
func PlanOf(s record.Study) Plan {
	return Plan{s.Name, s.Question, s.Compare, s.Recommend, s.Vary, s.Hold, s.Blocks, NamesOf(s), kindOf(s)}
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
}

// The kinds of a run.
var (
	comparison = Kind{Name: "comparison", Compares: true, Requires: true, Cells: true}
	settling   = Kind{Name: "settling", Compares: true, Requires: true, Cells: true, Ended: true}
	mesh       = Kind{Name: "mesh", Compares: true, Requires: true, Lead: "charts"}
	search     = Kind{Name: "search", Steered: true, Lead: "search"}
	tuning     = Kind{Name: "tuning", Requires: true, Cells: true, Steered: true}
)

func kindOf(s record.Study) Kind {
	switch {
	case s.Capacity != nil:
		return search
	case s.Race != nil:
		return tuning
	case s.Mesh:
		return mesh
	case s.Settle > 0:
		return settling
	}
	return comparison
}
