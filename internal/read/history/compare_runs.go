// Package history relates runs to each other: how much like runs differ on a
// machine, and in what two runs of a study differ.
package history

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// CompareRuns compares two runs of one study. Each arm is set against the
// floor, the baseline of both, within the blocks of its own run; how far that
// moved is judged against the spread within both runs and between like runs on
// that machine (specification §6.12), where no calibration knows it DefaultSpread or what
// the runs themselves show, if that is more.
func CompareRuns(before, after compare.Run, calibration *record.Calibration) RunsCompared {
	a := runPair{before: alike(before, after), after: after, calibration: calibration, barredArm: map[cells.Key]string{}, noise: map[cells.Key]float64{}, spread: map[comparedKey]spread{}}
	a.result.Calibration = calibration
	a.differ()
	for _, f := range []compare.Run{before, after} {
		for _, n := range f.Noise {
			at := cells.KeyOf(n.Cell, n.Metric)
			a.noise[at] = max(a.noise[at], n.Bound)
		}
	}
	if before.Plan().Compare.Baseline == after.Plan().Compare.Baseline {
		a.result.Floor = before.Plan().Compare.Baseline
	}
	a.compare()
	a.gate()
	a.result.Sentence = a.sentence()
	return a.result
}

// compare lines up what both runs have and judges the primary comparisons as one
// family by Holm. The others are explored and not judged.
func (a *runPair) compare() {
	var declared, explored []*compare.Pending
	twins := a.common()
	for _, m := range metric.All() {
		primary := slices.Contains(a.after.Plan().Compare.Primary, m.Name) && slices.Contains(a.before.Plan().Compare.Primary, m.Name)
		if m.Better == "" && !primary {
			continue
		}
		for _, t := range twins {
			b, measured := a.set(m, t, primary)
			switch {
			case primary:
				declared = append(declared, b)
			case measured && b.Blocks >= 2:
				explored = append(explored, b)
			}
		}
	}
	compare.ShareLevel(declared)
	for _, b := range declared {
		b.Judge()
		if b.Verdict == compare.CannotTell {
			b.Decides = a.decides()
		}
		a.result.Comparisons = append(a.result.Comparisons, b.Comparison)
	}
	for _, b := range explored {
		b.LeaveUnjudged()
		a.result.Comparisons = append(a.result.Comparisons, b.Comparison)
	}
}

// decides says what tells more than two runs: one run of both servers or builds.
func (a *runPair) decides() string {
	was, is := urlOf(a.before.Header.Command), urlOf(a.after.Header.Command)
	switch {
	case is != "" && was != is:
		return "one run of both shows smaller differences: netdyno " + was + " " + is + " --gate"
	case is != "":
		return "two builds side by side, on two ports, show smaller differences: netdyno " + is + " OTHER_URL --gate"
	}
	study := "STUDY"
	if command := a.after.Header.Command; len(command) > 2 && !strings.Contains(command[2], "=") { // argv: netdyno run STUDY …
		study = command[2]
	}
	return "one run of both builds shows smaller differences: netdyno run " + study + " build=BEFORE,AFTER --gate"
}

// twin is an arm of a cell in both runs, and the floor of that cell in each.
type twin struct {
	cell              string
	before, after     cells.Arm
	floorWas, floorIs cells.Arm
	floor             bool // it is the floor itself
}

// common returns what both runs have, in the order of the second.
func (a *runPair) common() []twin {
	var all []twin
	for _, cell := range a.after.Cells {
		i := slices.IndexFunc(a.before.Cells, func(c cells.Cell) bool { return c.Name == cell.Name })
		if i < 0 {
			continue
		}
		was := a.before.Cells[i]
		floorIs, floorWas := armNamed(cell, a.result.Floor), armNamed(was, a.result.Floor)
		for _, arm := range cell.Arms {
			if other := armNamed(was, arm.Name); other != nil {
				t := twin{cell: cell.Name, before: *other, after: arm, floor: arm.Name == a.result.Floor}
				if floorIs != nil && floorWas != nil {
					t.floorIs, t.floorWas = *floorIs, *floorWas
				}
				all = append(all, t)
			}
		}
	}
	return all
}

func armNamed(c cells.Cell, name string) *cells.Arm {
	for i := range c.Arms {
		if c.Arms[i].Name == name {
			return &c.Arms[i]
		}
	}
	return nil
}

// set makes one comparison; false where a run has no figure.
func (a *runPair) set(m metric.Metric, t twin, primary bool) (*compare.Pending, bool) {
	b := &compare.Pending{
		Comparison: compare.Comparison{Cell: t.cell, Metric: m.Name, Arm: t.after.Name, Primary: primary, Level: cells.Level},
		Tested:     primary, Better: m.Better, Margin: max(compare.Margin(a.before.Plan().Compare), compare.Margin(a.after.Plan().Compare)),
	}
	was, zeros := cells.MeanLogs(t.before.All(), m.Name)
	is, more := cells.MeanLogs(t.after.All(), m.Name)
	zeros += more
	relative := false
	if !t.floor {
		floorWas, zerosWere := cells.MeanLogs(t.floorWas.All(), m.Name)
		floorIs, zerosAre := cells.MeanLogs(t.floorIs.All(), m.Name)
		zeros += zerosWere + zerosAre
		if set, now := cells.Subtract(was, floorWas), cells.Subtract(is, floorIs); len(set) > 0 && len(now) > 0 {
			was, is, relative, b.Base = set, now, true, a.result.Floor
		}
	}
	b.Blocks = min(len(was), len(is))
	if b.Tested {
		b.P, b.Adjusted = 1, 1
		b.Bound = max(b.Margin, a.noise[cells.KeyOf(t.cell, m.Name)])
	}
	if zeros > 0 {
		b.Refusal = fmt.Sprintf("a figure is 0 in %d blocks, so there is no ratio", zeros)
		return b, false
	}
	x, y := cells.InOrder(was), cells.InOrder(is)
	first, enough := stat.MeanComponent(x)
	second, enoughToo := stat.MeanComponent(y)
	if !enough || !enoughToo {
		b.Refusal = fmt.Sprintf("blocks that have a valid value: %d and %d, and at least 2 of each run are needed", len(x), len(y))
		return b, len(x) > 0 && len(y) > 0
	}
	between := a.between(m.Name, relative, x, y)
	a.spread[keyOf(b.Comparison)] = between
	b.Effect = stat.Apart(stat.Mean(y)-stat.Mean(x), first, second, stat.Component{Variance: 2 * between.sd * between.sd, Degrees: between.degrees})
	e := b.Effect.At(b.Level)
	b.Ratio, b.Interval = math.Exp(e.Point), b.Level
	b.Value, b.BaseValue = cells.Finite(math.Exp(stat.Mean(y))), cells.Finite(math.Exp(stat.Mean(x)))
	b.Low, b.High = max(math.Exp(e.Low), 1/math.MaxFloat64), min(math.Exp(e.High), math.MaxFloat64)
	b.Refusal = cmp.Or(a.refuseArm(t, m), compare.RefuseBeside(&b.Comparison, beside(&t.after, later), beside(&t.before, earlier)))
	return b, true
}

// beside is what other processes took of the CPUs beside an arm in a run.
func beside(arm *cells.Arm, run string) compare.Beside {
	return compare.BesideOf(arm.Name+" in "+run+" run", arm.All(), arm.Limit)
}

// refuseArm says why an arm may not be judged, "" when it may.
func (a *runPair) refuseArm(t twin, m metric.Metric) string {
	for _, arm := range []cells.Arm{t.before, t.after} {
		for _, judged := range arm.Trials {
			if compare.IsLatency(m.Name) && slices.Contains(judged.Flags, trial.Overloaded) {
				return arm.Name + " was overloaded: its times measure a growing queue"
			}
		}
	}
	switch {
	case a.barred != "":
		return a.barred
	case a.barredArm[cells.KeyOf(t.cell, t.after.Name)] != "":
		return a.barredArm[cells.KeyOf(t.cell, t.after.Name)]
	case a.barredArm[cells.KeyOf(t.cell, a.result.Floor)] != "":
		return "the baseline " + a.result.Floor + " cannot show what changed on the machine: " + a.barredArm[cells.KeyOf(t.cell, a.result.Floor)]
	}
	return ""
}

// gate asks of every primary comparison whether worse is ruled out.
func (a *runPair) gate() {
	for _, run := range []struct {
		name string
		compare.Run
	}{{earlier, a.before}, {later, a.after}} {
		for _, caveat := range compare.Caveats(run.Run) {
			a.result.Caveats = append(a.result.Caveats, "in "+run.name+", "+caveat)
		}
	}
	a.result.Result, a.result.Gated = compare.Gate(compare.Run{Comparisons: a.result.Comparisons})
	if a.barred != "" || a.result.Result == compare.NoWorse && len(a.result.Caveats) > 0 {
		a.result.Result = compare.Unproven
	}
}

// urlOf is the URL in a command line, "" for none.
func urlOf(command []string) string {
	for _, word := range command {
		if u, err := url.Parse(word); err == nil && u.Host != "" && u.Scheme != "" {
			return word
		}
	}
	return ""
}

// RunsCompared is what can be said about two runs of the same work: how their
// conditions differ, and which figures differ by more than this machine's
// run-to-run noise.
type RunsCompared struct {
	Sentence    string               `json:"sentence"`
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
	May      string `json:"may"`                // what it may do to the figures
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
	spread        map[comparedKey]spread
}

func (a *runPair) addDifference(about, text string) {
	a.result.Differences = append(a.result.Differences, Difference{About: about, Text: text, May: mayDo[about]})
}

func (a *runPair) decisive(about, text string) {
	a.result.Differences = append(a.result.Differences, Difference{About: about, Text: text, May: mayDo[about], Decisive: true})
}

// mayDo says what a difference may do to the figures.
var mayDo = map[string]string{
	"rig":       "another path: no figure is comparable",
	"hosts":     "other machines: no figure is comparable",
	"machine":   "it may change rates, times and CPU costs as much as another program would",
	"facts":     "it may change times and CPU costs",
	"busy CPUs": "what else ran takes time from both ends: times and rates of the busier run are worse",
	"program":   "it may be what is compared, or change netdyno's own part of the times",
	"netdyno":   "it may count and time otherwise",
	"study":     "another load: rates and times are not comparable",
	"length":    "a longer one has more of what is rare in it: tails may be higher",
	"arms":      "it is not compared",
	"settings":  "the figures may be of the setting, and not of the server",
	"address":   "that changes nothing, if it is the same service",
}
