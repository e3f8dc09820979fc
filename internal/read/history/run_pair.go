package history

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// RunsCompared is what can be said about two runs of the same work: how their
// conditions differ, and which figures differ by more than this machine's
// run-to-run noise.
type RunsCompared struct {
	Differences []Difference         `json:"differences"` // facts first
	Floor       string               `json:"floor"`       // the arm that carries what happened to the machine meanwhile
	Comparisons []compare.Comparison `json:"comparisons"` // later ÷ earlier; the primary ones first
	Calibration *record.Calibration  `json:"calibration,omitempty"`
	Result      compare.GateResult   `json:"gate_result"`
	Gated       []compare.Gated      `json:"gated"`
	Caveats     []string             `json:"caveats,omitempty"` // of the runs themselves, whatever the comparisons say
}

// Difference is one thing in which two runs differ besides their figures.
type Difference struct {
	About    string `json:"about"` // "machine", "program", "study", "hosts", …
	Text     string `json:"text"`
	Decisive bool   `json:"decisive,omitempty"` // so that their figures may not be set side by side
}

// Names of the two runs in every text.
const (
	earlier = "the first"
	later   = "the second"
)

// runPair is one comparison of two runs on its way.
type runPair struct {
	before, after compare.Run
	calibration   *record.Calibration
	result        RunsCompared
	barred        string                // why nothing may be judged, "" when it may
	barredArm     map[cells.Key]string  // why an arm of a cell may not
	noise         map[cells.Key]float64 // by cell and metric: the larger A/A bound
}

func (a *runPair) addDifference(about, text string) {
	a.result.Differences = append(a.result.Differences, Difference{About: about, Text: text})
}

func (a *runPair) decisive(about, text string) {
	a.result.Differences = append(a.result.Differences, Difference{About: about, Text: text, Decisive: true})
}
