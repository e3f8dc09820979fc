// Package record is the interface of RUN and READ: what RUN leaves on disk and READ
// takes up. A record is a trial plus its counts; nothing derived is stored,
// so a corrected formula never needs a rerun.
package record

import (
	"path/filepath"
	"slices"
	"time"

	"netdyno/internal/contract"
)

// Schema is the integer version of everything in this package that is
// written to disk.
const Schema = 1

// Unnamed is the name of a study that was typed without one.
const Unnamed = "command-line"

// Header opens records.jsonl: the study as it was run and where.
type Header struct {
	Schema    int       `json:"schema"`
	Netdyno   string    `json:"netdyno"` // version of the orchestrator
	CreatedAt time.Time `json:"created_at"`
	Command   []string  `json:"command"` // argv that reruns it
	Study     Study     `json:"study"`
	Facts     Facts     `json:"facts"`
	Listen    []string  `json:"listen,omitempty"`  // of a server that stood by itself, whose records are no longer read
	Directory string    `json:"-"`                 // where the run was read from, for the commands that texts name; "" when it is not known
	Stopped   *Stop     `json:"stopped,omitempty"` // from a line after the records; absent when the run did not stop at a look

	Asked []Asked `json:"asked,omitempty"` // from lines among the records; of a run by URL, one for each arm and session

	Allocations []Allocation `json:"allocations,omitempty"` // from lines among the records, by block as they were decided; of a steered run

	Again []Attempt `json:"again,omitempty"` // from lines among the records: trials that were disturbed and made again, once for each time
}

// RunName is the run's directory, without what leads to it; "" when it is not known.
func (h Header) RunName() string {
	if h.Directory == "" {
		return ""
	}
	return filepath.Base(filepath.Clean(h.Directory))
}

// Stop ends a run after a look of its study at which nothing was left to ask:
// the trials of later blocks are not missing.
type Stop struct {
	Look   int `json:"stage"`  // of Study.Looks, from 1
	Blocks int `json:"blocks"` // of that look
}

// Study is what readers need of a study: its question, its comparisons and
// its held levels. The whole file lies beside as study.yaml.
type Study struct {
	Name      string            `json:"name"`
	Question  string            `json:"question,omitempty"`
	Hold      map[string]string `json:"hold,omitempty"` // canonical text by factor
	Vary      []Factor          `json:"vary"`           // in the study's order, the compared factor first
	Labels    Labels            `json:"labels,omitzero"`
	Compare   Compare           `json:"compare"`
	Recommend []string          `json:"recommend,omitempty"` // metrics in the order in which they weigh in what to use; the primary ones alike where there are none
	Reference []string          `json:"reference,omitempty"` // arms that stand beside the others as bounds, and are never what to use
	Blocks    int               `json:"blocks"`              // that a run does by itself, at most
	OwnLooks  []int             `json:"stages,omitempty"`    // blocks after which the run may stop, rising, the last of them Blocks; absent when there is one
	Further   []int             `json:"further,omitempty"`   // looks after Blocks to which a run goes on when it is told to, rising; absent when there is none
	Mesh      bool              `json:"mesh,omitempty"`      // its cells are the ordered pairs of the rig's hosts; those without a host in common run at the same time
	Partners  int               `json:"partners,omitempty"`  // of such a study: with how many others each host is measured, as client and as server, drawn by lot; 0 for all
	Settle    float64           `json:"settle,omitempty"`    // of a study with one arm: it ends at the first look at which every rate's interval lies within this share of the rate; 0 when it does not
	SettleS   float64           `json:"settle_s,omitempty"`  // seconds that the trials after the first block may take until then: the run ends at the look after which the next would be later; 0 for no bound
	Seed      uint64            `json:"seed"`
	Charts    []Chart           `json:"charts,omitempty"`
	Costs     []Cost            `json:"costs,omitempty"`
	Expect    []Expectation     `json:"expect,omitempty"`
	Ladders   []Ladder          `json:"ladders,omitempty"`
	Requires  []Require         `json:"requires,omitempty"`
	Capacity  *Capacity         `json:"capacity,omitempty"`
	Race      *Race             `json:"race,omitempty"`
	LeftOut   []string          `json:"left_out,omitempty"` // cells that an earlier release left out to fit a run into a time: "connections=10,100 of sweep first"
	Warnings  []Warning         `json:"warnings,omitempty"` // the planner's: confounded factors, dropped cells
	Retired
}

// Retired is what earlier versions asked of a run, each in a form of its own. It is named
// and not evaluated: the run's figures and comparisons do not rest on it.
type Retired struct {
	Claims    any `json:"claims,omitempty"`
	Published any `json:"published,omitempty"`
	Fits      any `json:"fits,omitempty"`
	Reaches   any `json:"reaches,omitempty"`
	Pays      any `json:"pays,omitempty"`
	Fills     any `json:"fills,omitempty"`
}

// Keys names what the run was asked by the keys of its study.
func (r Retired) Keys() (all []string) {
	for _, k := range []struct {
		name  string
		asked any
	}{{"claims", r.Claims}, {"published", r.Published}, {"fits", r.Fits}, {"reaches", r.Reaches}, {"pays", r.Pays}, {"fills", r.Fills}} {
		if k.asked != nil {
			all = append(all, k.name)
		}
	}
	return all
}

// Looks returns the blocks after which a run is judged, rising: its own looks and
// the further looks that were declared with them. One number of a study without
// own or further looks, and of a damaged one whose numbers do not rise.
func (s Study) Looks() []int {
	looks := []int{s.Blocks}
	if len(s.OwnLooks) > 1 && s.OwnLooks[len(s.OwnLooks)-1] == s.Blocks {
		looks = slices.Clone(s.OwnLooks)
	}
	looks = append(looks, s.Further...)
	for i, blocks := range looks {
		if blocks < 1 || i > 0 && blocks <= looks[i-1] {
			return []int{s.Blocks}
		}
	}
	return looks
}

// Labels say in plain words what names stand for, where the study says it.
type Labels struct {
	Levels map[string]map[string]string `json:"levels,omitempty"` // by factor; of the compared one they are the arms'
	Cells  map[string]CellLabel         `json:"cells,omitempty"`  // by name
}

// CellLabel is what a sweep calls a cell of its own.
type CellLabel struct {
	Label  string `json:"label"`
	Beside string `json:"beside,omitempty"` // levels that are said beside it, as a cell's name has them
}

// Factor is one varied factor with its levels in canonical text.
type Factor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
}

// Compare declares the comparisons: every level of Factor against Baseline,
// within each cell, on each primary metric. Its tags, as those of all that a study file
// says, are the keys of the file (package source).
type Compare struct {
	Factor   string   `json:"factor" key:"factor" typed:"compare.factor" is:"varied factor" doc:"factor whose levels are compared; arm, the transport or the first that varies unless given"`
	Baseline string   `json:"baseline" key:"baseline" typed:"baseline" is:"baseline" doc:"arm that the others are compared with; the first unless given"`
	Primary  []string `json:"primary" key:"primary" typed:"primary" is:"metrics" doc:"metrics on which arms are judged, separated by commas"`
	Margin   float64  `json:"margin" key:"margin" typed:"margin" is:"share" doc:"difference below which arms count as equal; 2% unless given"`
	Also     []Pair   `json:"also,omitempty" key:"also" is:"pairs" doc:"pairs of other arms that are compared besides"` // on each primary metric, in the cells that have both
}

// Pair is two levels of the compared factor, of which the first is divided by
// the second.
type Pair struct {
	Arm  string `json:"arm"`
	Base string `json:"base"`
}

// ChartKind is the form of a chart.
type ChartKind string

// The forms: lines of a metric over a factor, a metric by colour over two
// factors, and the Pareto front of two metrics.
const (
	Lines ChartKind = "lines"
	Heat  ChartKind = "heat"
	Front ChartKind = "front"
)

// Chart is a view of its results that a study asks for. A factor may be any of
// a trial's levels, those bundled in arms included.
type Chart struct {
	Title   string            `json:"title" key:"title" must:"yes" is:"text" doc:"what stands above it"`
	Kind    ChartKind         `json:"kind" key:"kind" must:"yes" is:"chart" doc:"kind of the chart"`
	Metric  string            `json:"metric" key:"metric" is:"metric" doc:"metric that is drawn"` // a front's to be high (or low) against Against
	X       string            `json:"x,omitempty" key:"x" is:"axis" doc:"of lines and heat: factor along the axis"`
	Y       string            `json:"y,omitempty" key:"y" is:"axis" doc:"of heat: factor along the other axis"`
	By      string            `json:"by,omitempty" key:"by" is:"named factor" doc:"of lines and front: factor with a line, or a mark, for each level"`
	Against string            `json:"against,omitempty" key:"against" is:"metric" doc:"of front: the metric that it costs"`
	Where   map[string]string `json:"where,omitempty" key:"where" is:"level each" doc:"levels to whose trials it is confined"`
	Arms    []string          `json:"arms,omitempty" key:"arms" is:"arms" doc:"only these arms; all unless given"`
}

// Require is a bound that a study sets on a metric of one arm, in every cell
// that has the levels of Where.
type Require struct {
	Text    string            `json:"text"` // as the study has it
	Metric  string            `json:"metric"`
	Arm     string            `json:"arm"`
	AtLeast bool              `json:"at_least,omitempty"` // the metric must not be below the bound; else not above it
	Bound   float64           `json:"bound"`              // in the metric's unit; with Base its multiple, above 0
	Base    string            `json:"base,omitempty"`     // the arm whose value the bound is a multiple of
	Where   map[string]string `json:"where,omitempty"`
}

// Warning is a fact the user should act on, with the advice.
type Warning struct {
	About  string `json:"about"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// Trial is the experimental unit: one level of every factor, at a place in a
// random order, in fresh processes.
type Trial struct {
	ID     string `json:"id"` // unique in the study: block-order, "b03-07"
	Block  int    `json:"block"`
	Order  int    `json:"order"`            // place in the whole run, from 0
	Round  int    `json:"round,omitempty"`  // trials of a block with the same one run at the same time, on hosts of their own; 0 for a trial that runs alone
	Cell   string `json:"cell"`             // canonical text of the varied levels other than the compared one; "" when there is none
	Arm    string `json:"arm"`              // level of the compared factor
	Repeat bool   `json:"repeat,omitempty"` // the baseline's second appearance in its block and cell
	Probe  bool   `json:"probe,omitempty"`  // profiled, and for that reason compared with nothing
	// Unloaded trials have one exchange at a time, to tell an arm's times without load.
	Unloaded bool `json:"unloaded,omitempty"`
	// FlatOut trials, of block 0, tell what an arm does in a closed loop: rates of other
	// trials are shares of that.
	FlatOut bool              `json:"flat_out,omitempty"`
	Levels  map[string]string `json:"levels"` // every factor, held or varied, an arm already unfolded
	Seed    uint64            `json:"seed"`
}

// Outcome says how a trial ended. Whether its counts are believable is for
// readers to decide.
type Outcome string

// The outcomes. Unsupported is an empty cell with its reason, not a failure.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Unsupported Outcome = "unsupported"
)

// Record is a trial and what was counted in it. Every planned trial leaves
// exactly one.
type Record struct {
	Schema    int       `json:"schema"`
	Trial     Trial     `json:"trial"`
	StartedAt time.Time `json:"started_at"`
	Outcome   Outcome   `json:"outcome"`
	Failure   *Failure  `json:"failure,omitempty"`
	Timeline  Timeline  `json:"timeline"`
	WarmUp    *WarmUp   `json:"warm_up,omitempty"` // absent where its length was fixed, and of a trial that did not come so far
	Workers   []Worker  `json:"workers"`
	Noise     Noise     `json:"noise"`
	Turn      bool      `json:"turn,omitempty"` // of a load that went on: its window is as long as its edges lie apart

	// BesideNs is the CPU time that loads took with which a turn's alternated between its
	// edges, by the boot of their hosts.
	BesideNs map[string]int64 `json:"beside_ns,omitempty"`
}

// Link is the shape of the link between places, the same in both directions.
// The zero value is the link as it is.
type Link struct {
	RateBitsPerS float64       // of each place's cable; 0 is unlimited
	Delay        time.Duration // one way
	LossShare    float64       // of packets, from 0 to 1
}

// Failure says which worker failed, in which state, and why.
type Failure struct {
	Kind   contract.ErrorKind `json:"kind"`
	Text   string             `json:"text"`
	Worker string             `json:"worker,omitempty"` // "server", "client-1"
	Asked  int64              `json:"asked,omitempty"`  // requests to the server after that, to learn what it speaks
	State  string             `json:"state,omitempty"`  // of the contract: born, idle, ready, running, window, done
}

// Timeline holds the instants of one trial on the bench's monotonic clock, in
// ns since the trial began; 0 for one that was not reached.
type Timeline struct {
	ReadyNs int64 `json:"ready_ns"` // every worker ready
	StartNs int64 `json:"start_ns"`
	OpenNs  int64 `json:"open_ns"`  // the window's opening mark sent
	CloseNs int64 `json:"close_ns"` // the window's closing mark sent
	EndNs   int64 `json:"end_ns"`   // every worker gone
}

// WarmUp says how a warm-up ended whose load was watched. It took from StartNs to OpenNs
// of the timeline.
type WarmUp struct {
	Looks  int    `json:"looks"` // at the load, the first of them as the declared time was over
	MostNs int64  `json:"most_ns"`
	Steady Steady `json:"steady"`
}

// Steady says what a warm-up ended with.
type Steady string

// The ends of a warm-up.
const (
	SteadyAtOnce Steady = "at once" // no change showed as the declared time was over
	SteadyLater  Steady = "later"   // one did, and was over at a later look
	NeverSteady  Steady = "never"   // … and was not, or not for certain, when the most time was over
	SteadyUntold Steady = "untold"  // too little was read, or completed, to tell
)

// Warming is a reading of a worker while the load warms up. AtNs is of the worker's clock,
// MeterNs and CPUNs, of its process tree, are of its meter's; 0 where there is none.
type Warming struct {
	AtNs      int64 `json:"at_ns"`
	Exchanges int64 `json:"exchanges"`
	MeterNs   int64 `json:"meter_ns,omitempty"`
	CPUNs     int64 `json:"cpu_ns,omitempty"`
}

// Worker is one worker's part of a trial. Edges that were not reached are nil.
type Worker struct {
	Name      string            `json:"name"` // "server", "client-1", "client-2", …
	Role      contract.Role     `json:"role"`
	Seat      string            `json:"seat"`
	Transport string            `json:"transport"`
	Binary    string            `json:"binary"` // file name
	SHA256    string            `json:"sha256,omitempty"`
	Version   string            `json:"version,omitempty"`
	Delivery  contract.Delivery `json:"delivery,omitempty"` // as the worker declares it for this transport, or for this trial
	CPUSet    []int             `json:"cpu_set,omitempty"`
	Setup     *contract.Setup   `json:"setup,omitempty"`
	Ready     *contract.Ready   `json:"ready,omitempty"`
	AtReady   *contract.Meter   `json:"at_ready,omitempty"`
	Idle      *Edge             `json:"idle,omitempty"`    // everything connected, before the load begins
	Warming   []Warming         `json:"warming,omitempty"` // the first as the load began; of a warm-up that went on
	Open      *Edge             `json:"open,omitempty"`
	Close     *Edge             `json:"close,omitempty"`
	Result    *contract.Result  `json:"result,omitempty"`
	TakenNs   int64             `json:"taken_ns,omitempty"` // of a turn beside those of other arms: for how long of the time between its edges its load ran
	AtResult  *contract.Meter   `json:"at_result,omitempty"`
	Ticks     []contract.Tick   `json:"ticks,omitempty"`
	Metered   []contract.Meter  `json:"metered,omitempty"` // at ticks, in older records of trials with a timeline
	Errors    []contract.Error  `json:"errors,omitempty"`
	Exit      *contract.Exit    `json:"exit,omitempty"`
	Stderr    string            `json:"stderr,omitempty"` // its last 4 KiB
}

// Noise is what disturbed the host during the window: cumulative differences
// over all CPUs between the trial's first and last meter readings, as the
// bench saw them.
type Noise struct {
	LoadAverage float64 `json:"load_average"` // 1 min, before the trial
}

// Facts describe the hosts, by seat, before the run and after it.
type Facts struct {
	Rig   string            `json:"rig"`
	Seats map[string]Host   `json:"seats"`
	After map[string]Host   `json:"after,omitempty"` // from the file's last line; absent when the run was stopped
	Tools map[string]Binary `json:"tools"`           // worker binaries by name

	Floors []Floor `json:"floors,omitempty"` // of the ways between the seats of trials; absent where there is nowhere to sit for a server, and from older runs

	Calibration *Calibration `json:"calibration,omitempty"` // what was known of the machines before the run

	Standing *Standing `json:"standing,omitempty"` // of a run by several URLs, or with --pin-server; absent where the processes are not known
}

// Pinned tells whether the run held servers that others started on CPUs of the plan.
func (f Facts) Pinned() bool { return f.Standing != nil && f.Standing.Pinned }

// Standing says on which CPUs servers of this host run that others started.
type Standing struct {
	Servers int   `json:"servers"`          // their addresses, those of the same processes once
	Threads int   `json:"threads"`          // of all when the run began
	Plan    []int `json:"plan"`             // CPUs that the placement gives to servers
	Floats  bool  `json:"floats,omitempty"` // a thread might use others then
	Free    bool  `json:"free,omitempty"`   // every thread might use the plan's and others, so that clients change places with servers
	Pinned  bool  `json:"pinned,omitempty"` // they had those of the plan alone in the run
}

// Binary identifies a worker executable.
type Binary struct {
	SHA256    string             `json:"sha256"`
	Version   string             `json:"version"`
	Libraries []contract.Library `json:"libraries,omitempty"`
	Message   string             `json:"message,omitempty"` // level of factor message whose generated code it was built with
}
