// Package finding turns records into findings: what each arm did, how the
// arms compare, what limited them, and whether to believe it. It is pure: the
// same records give the same findings.
package finding

import (
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Verdict is the outcome of one comparison.
type Verdict string

// The verdicts. The last is that of explored comparisons, which have a ratio and
// its interval but were not declared before the run.
const (
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Equivalent Verdict = "equivalent"
	CannotTell Verdict = "cannot tell"
	Invalid    Verdict = "invalid"
	NotJudged  Verdict = "not judged"
)

// Limit names the resource that bounded a trial.
type Limit string

// The limits in the order in which they are tried (METHOD §5).
const (
	Link          Limit = "link" // never on loopback, where that is the CPU
	ServerCore    Limit = "server-core"
	ClientCore    Limit = "client-core"
	ServerCPU     Limit = "server-cpu"
	ClientCPU     Limit = "client-cpu"
	HostCPU       Limit = "host-cpu"
	ReceiveWindow Limit = "receive-window" // whose it was is in the proof
	SendBuffer    Limit = "send-buffer"
	FlowControl   Limit = "flow-control" // a library's own windows
	Schedule      Limit = "schedule"
	Latency       Limit = "latency"
	Unknown       Limit = "unknown"
)

// Run is a run as judged: its figures by cell and arm, and how the arms compare.
// A gate, a calibration and a comparison of runs rest on it alone.
type Run struct {
	Header       record.Header `json:"header"`
	Cells        []Cell        `json:"cells"`
	Comparisons  []Comparison  `json:"comparisons"`
	Requirements []Requirement `json:"requirements,omitempty"` // by Header.Study.Requires, then by cell
	Noise        []Noise       `json:"noise"`                  // the A/A comparisons
	Tally        Tally         `json:"tally"`
}

// Findings is everything that can be said about one run.
type Findings struct {
	Run
	Answers      []string         `json:"answers"`         // sentences, one per primary comparison worth saying
	Stage        *Stage           `json:"stage,omitempty"` // at which the run is judged; nil when the study declares none
	Published    []Published      `json:"published,omitempty"`
	Profiles     []Profile        `json:"profiles,omitempty"` // by cell and arm in the study's order, the server first
	Charts       []Chart          `json:"charts,omitempty"`   // as Header.Study.Charts
	Fits         []Fit            `json:"fits,omitempty"`     // as Header.Study.Fits
	Searches     []Search         `json:"searches,omitempty"` // as Header.Study.Reaches
	Claims       []Claim          `json:"claims,omitempty"`   // as Header.Study.Claims
	ServerReport *ServerReport    `json:"served,omitempty"`   // what the server said of itself, when it stood by itself
	Seating      []Seated         `json:"seating"`            // who sat where, the server's seat first
	Warnings     []record.Warning `json:"warnings"`
}

// Tally counts the records by how they ended. Probes are counted apart: they
// are read for their profiles and nothing else.
type Tally struct {
	Planned     int     `json:"planned"`
	Valid       int     `json:"valid"`
	Failed      int     `json:"failed"`
	Invalid     int     `json:"invalid"`
	Partial     int     `json:"partial,omitempty"` // of the valid ones, those without rates: they stood still or began with a backlog
	Unsupported int     `json:"unsupported"`
	Missing     int     `json:"missing"`             // planned, no record (yet)
	Unplanned   int     `json:"unplanned,omitempty"` // records of trials outside the plan, which are left out
	Skipped     int     `json:"skipped,omitempty"`   // not planned any more, as the run stopped at a stage
	Probes      int     `json:"probes,omitempty"`
	WindowShare float64 `json:"window_share"` // share of the run's time inside windows and declared warm-up
}

// Cell is one combination of the varied levels other than the compared one.
type Cell struct {
	Name   string            `json:"name"` // "connections=50"; "" when nothing else varies
	Levels map[string]string `json:"levels"`
	Arms   []Arm             `json:"arms"` // in the study's order
}

// Arm is one treatment within a cell, over its blocks.
type Arm struct {
	Name       string            `json:"name"`
	Baseline   bool              `json:"baseline,omitempty"`
	Trials     []Trial           `json:"trials"`                // by block; the baseline's repeats included
	Metrics    []Summary         `json:"metrics"`               // in registry order, those that exist
	Limit      Limit             `json:"limit"`                 // of most trials
	LimitProof string            `json:"limit_proof,omitempty"` // of the first such trial, which it names
	Settings   map[string]string `json:"settings,omitempty"`    // "server.buffer": "4096", as the workers reported them
	Service    []hist.Point      `json:"service,omitempty"`     // times by percentile, each averaged over blocks as Figure.Value is
	Response   []hist.Point      `json:"response,omitempty"`
	Delivery   string            `json:"delivery,omitempty"`
	Clients    []Client          `json:"clients,omitempty"` // each by itself, where there are several
}

// Figure is a metric over the blocks of some trials. A block's value is the
// geometric mean of its valid trials, Value that of the blocks: the ratio of two
// figures over the same blocks is their quotient.
type Figure struct {
	N      int     `json:"n"`      // blocks with a valid trial
	Trials int     `json:"trials"` // valid, in all blocks
	Value  float64 `json:"value"`
	Mean   string  `json:"mean,omitempty"` // Arithmetic; "" is the geometric mean
	Low    float64 `json:"low"`            // 95 % interval of Value by Student's t over blocks; equal to Value when N < 2
	High   float64 `json:"high"`
}

// Arithmetic is the mean of figures of which one is 0, which has no logarithm:
// over the blocks' arithmetic means, its interval by t on these.
const Arithmetic = "arithmetic"

// Summary is a metric of an arm in a cell.
type Summary struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Better string `json:"better"` // "higher", "lower" or ""
	Figure
	Median float64 `json:"median"` // of the valid trials; a look at their distribution, compared with nothing
}

// Trial is one record as the reader sees it.
type Trial struct {
	ID         string             `json:"id"`
	Block      int                `json:"block"`
	Repeat     bool               `json:"repeat,omitempty"`
	Status     string             `json:"status"` // "valid", "invalid", "failed", "unsupported"
	Reason     string             `json:"reason,omitempty"`
	Flags      []string           `json:"flags,omitempty"`  // names of flags, in the order of METHOD §2.3
	Errors     int64              `json:"errors,omitempty"` // exchanges that failed, for which the trial is invalid
	Values     map[string]float64 `json:"values,omitempty"`
	Moved      map[string]float64 `json:"moved,omitempty"`  // percentiles that the unfinished would move, and what they are at the least
	Stalls     []Stall            `json:"stalls,omitempty"` // when nothing moved inside the window
	Limit      Limit              `json:"limit,omitempty"`
	LimitProof string             `json:"limit_proof,omitempty"`
	Series     []Slice            `json:"series,omitempty"`
	CPU        []CPUSplit         `json:"cpu,omitempty"`
}

// Slice is one step of a trial's series, clients summed.
type Slice struct {
	AtS           float64 `json:"at_s"` // since start, seconds
	ExchangesPerS float64 `json:"exchanges_per_s"`
	InWindow      bool    `json:"in_window"`
}

// CPUSplit says where one worker's or one host's CPU time went in the window,
// in cores (CPU seconds per second).
type CPUSplit struct {
	Of    string             `json:"of"`    // "server", "client", "host"
	Cores map[string]float64 `json:"cores"` // "user", "system"; for the host also "irq", "softirq", "steal", "idle"
}

// Comparison is one arm against the baseline in one cell on one metric.
type Comparison struct {
	Cell      string    `json:"cell"`
	Metric    string    `json:"metric"`
	Arm       string    `json:"arm"`
	Base      string    `json:"base"`
	Primary   bool      `json:"primary"`
	Ratio     float64   `json:"ratio"` // arm ÷ base, geometric mean of the within-block ratios; 0 for none, which is so for fewer than two blocks
	Low       float64   `json:"low"`   // interval of confidence 1 − Level
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // that the adjusted p is held against: 0.05, or what a stage has of it
	Value     float64   `json:"value"` // the arm's figure over the blocks that both arms have: Ratio is Value ÷ BaseValue; 0 for none
	BaseValue float64   `json:"base_value"`
	Ratios    []float64 `json:"ratios"`            // by block
	In        []int     `json:"in,omitempty"`      // the blocks of Ratios, rising
	Blocks    int       `json:"blocks"`            // that both arms have
	Partial   bool      `json:"partial,omitempty"` // not all blocks of both, so that Value and BaseValue are not the arms' own figures
	P         float64   `json:"p,omitempty"`       // exact sign flip, two-sided; this and the next four are of primary comparisons alone
	Adjusted  float64   `json:"adjusted,omitempty"`
	Family    int       `json:"family,omitempty"` // size of the family it was adjusted in
	Method    string    `json:"method,omitempty"` // "step-down sign flip", of runs made apart "Holm"
	Bound     float64   `json:"bound,omitempty"`  // a difference inside [1/(1+Bound), 1+Bound] is none: max(margin, A/A noise)
	Verdict   Verdict   `json:"verdict"`
	Reason    string    `json:"reason,omitempty"`     // why invalid or cannot tell; of one not judged, why its figures may not be compared
	NeedsMore int       `json:"needs_more,omitempty"` // blocks it would take in all; 0 when no number of them decides it
	Decides   string    `json:"decides,omitempty"`    // of one that cannot be told: what decides it, and the command
	Sentence  string    `json:"sentence,omitempty"`   // in words, as it stands in Answers; empty when not worth saying
}

// Noise is the A/A comparison: the baseline against its own repeat.
type Noise struct {
	Cell   string    `json:"cell"`
	Metric string    `json:"metric"`
	Ratio  float64   `json:"ratio"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Ratios []float64 `json:"ratios"`
	In     []int     `json:"in,omitempty"` // the blocks of Ratios, rising
	Bound  float64   `json:"bound"`        // distance of the interval from 1, as a ratio − 1; 0 when it holds 1
	P      float64   `json:"p"`
}
