// Package ladder takes a difference apart: along a sequence of arms that a study
// declares, it says which part of the ratio of the last arm to the first each step
// has, and what the profiles of the step's two arms say.
package ladder

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/profile"
	"netdyno/internal/record"
)

// Ladder is what became of one ladder of the study: a split for each judged metric, costs
// first, in each cell that has the ladder's arms.
type Ladder struct {
	Spec   record.Ladder `json:"spec"`
	Splits []Split       `json:"splits"`
}

// Split is one ladder in one cell on one metric. All figures of a split are over the same
// blocks: the blocks in which every arm has a valid figure.
type Split struct {
	Cell     string   `json:"cell"`
	Metric   string   `json:"metric"`
	Arms     []string `json:"arms"`               // that have figures here, in order
	LeftOut  []string `json:"left_out,omitempty"` // of the ladder, which have none here; their steps are one with the next
	Blocks   int      `json:"blocks"`             // in which every arm has a figure
	Of       int      `json:"of"`                 // blocks, in which any of them has one
	Level    float64  `json:"level"`              // 1 − the confidence of every interval here
	Bound    float64  `json:"bound"`              // a whole inside [1/(1+Bound), 1+Bound] is no difference: max(margin, A/A noise)
	Whole    Step     `json:"whole"`              // from the first arm to the last
	Steps    []Step   `json:"steps"`              // their ratios multiply to the whole's, what they add sums to what it adds
	Divided  bool     `json:"divided"`            // the whole is apart from 1 and from Bound, so the steps have shares
	Reason   string   `json:"reason,omitempty"`   // why there are no figures, or no shares
	Sentence string   `json:"sentence,omitempty"`
}

// Step is one arm divided by the one before, or of the whole the last by the first.
type Step struct {
	Arm       string   `json:"arm"`
	Base      string   `json:"base"`
	Title     string   `json:"title,omitempty"`   // in the study's words
	Changes   []string `json:"changes,omitempty"` // the factors and options in which the two differ
	Value     float64  `json:"value"`             // Arm's figure: the geometric mean over the blocks
	BaseValue float64  `json:"base_value"`
	Ratio     float64  `json:"ratio"` // Value ÷ BaseValue
	Low       float64  `json:"low"`   // the interval that decides: of a step with its share of the level among the steps
	High      float64  `json:"high"`
	P         float64  `json:"p"`     // Student's t, two-sided; of a step adjusted together with the other steps
	Told      bool     `json:"told"`  // the interval does not contain 1, and the blocks are enough for a verdict
	Added     Part     `json:"added"` // Value − BaseValue, in the metric's unit
	Share     Part     `json:"share"` // of the logarithm of the whole's ratio; 0 unless the split is divided
	Cause     *Cause   `json:"cause,omitempty"`
}

// Part is an amount with its interval.
type Part struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Cause is what the probes of a step's two arms say: where the CPU time grew and
// shrank. Probes are trials of their own: the step's figures come from other trials.
type Cause struct {
	Pairs      int              `json:"pairs"`      // of probes, one of each arm
	Whole      profile.Change   `json:"whole"`      // of the metric itself, in the probes
	Activities []profile.Change `json:"activities"` // those told apart from noise and no slight part of the whole, or else the two that differ most; the largest first
}

// A ladder has at least three arms, as two have one step, the whole; a study file may
// name twenty, and a damaged header any number.
const (
	least = 3
	most  = 20
)

// Read makes the study's ladders, from valid trials alone.
func Read(s *cells.Dataset, noise []compare.Noise, differences []profile.Difference) Ladders {
	bounds := compare.BoundsOf(noise)
	var all Ladders
	for _, spec := range s.Header.Study.Ladders {
		spec.Arms = spec.Arms[:min(len(spec.Arms), most)]
		l := Ladder{Spec: spec}
		for _, m := range judged(s) {
			l.Splits = append(l.Splits, cells.EachCell(s, func(cell string) []Split {
				if len(armsIn(s, cell, spec.Arms)) < least {
					return nil
				}
				split := splitOf(s, spec, cell, m)
				split.Bound = max(compare.Margin(s.Header.Study.Compare), bounds[[2]string{cell, m.Name}])
				split.measure(s, spec)
				split.addCauses(differences)
				split.Sentence = split.sentence()
				return []Split{split}
			})...)
		}
		all = append(all, l)
	}
	return all
}

// judged returns the study's primary metrics, CPU costs first: profiles divide those up
// too.
func judged(s *cells.Dataset) []metric.Metric {
	var costs, others []metric.Metric
	for _, name := range s.Header.Study.Compare.Primary {
		m, err := metric.Named(name)
		switch {
		case err != nil:
		case strings.Contains(name, "cpu_us_per_") || strings.Contains(name, "cpu_s_per_"):
			costs = append(costs, m)
		default:
			others = append(others, m)
		}
	}
	return append(costs, others...)
}

// armsIn returns the arms that the cell's plan has.
func armsIn(s *cells.Dataset, cell string, arms []string) []string {
	return slices.DeleteFunc(slices.Clone(arms), func(arm string) bool { return len(s.Of(cell, arm)) == 0 })
}

// splitOf names the arms of a split: those that have a figure there.
func splitOf(s *cells.Dataset, spec record.Ladder, cell string, m metric.Metric) Split {
	split := Split{Cell: cell, Metric: m.Name, Level: s.Level()}
	for _, arm := range spec.Arms {
		if cells.PoolOf(s.TrialsOf(cell, arm), m.Name).Count() > 0 {
			split.Arms = append(split.Arms, arm)
		} else {
			split.LeftOut = append(split.LeftOut, arm)
		}
	}
	return split
}

// measure fills in a split's steps, or says why there are none.
func (p *Split) measure(s *cells.Dataset, spec record.Ladder) {
	if len(p.Arms) < least {
		p.Reason = fmt.Sprintf("%d of its %d arms have a valid figure here, and at least %d are needed", len(p.Arms), len(spec.Arms), least)
		return
	}
	if p.Reason = refused(s, p); p.Reason != "" {
		return
	}
	logs := p.commonLogs(s)
	if p.Blocks < 2 {
		p.Reason = fmt.Sprintf("every arm has a valid figure in %d of %d blocks, and at least 2 are needed", p.Blocks, p.Of)
		return
	}
	p.split(logs, s.NoVerdict())
	for i := range p.Steps {
		p.Steps[i].describe(spec)
	}
}

// refused is why figures of two of the arms may not be compared; "" when they may.
func refused(s *cells.Dataset, p *Split) string {
	m, err := metric.Named(p.Metric)
	if err != nil {
		return err.Error()
	}
	for i := 1; i < len(p.Arms); i++ {
		if why := compare.Refused(s, p.Cell, m, p.Arms[i], p.Arms[i-1]); why != "" {
			return fmt.Sprintf("%s and %s cannot be compared: %s", p.Arms[i-1], p.Arms[i], why)
		}
	}
	return ""
}

// commonLogs returns the logarithms of each arm's figures in the blocks that all of
// them have, rising by block, and counts the blocks.
func (p *Split) commonLogs(s *cells.Dataset) [][]float64 {
	pools, blocks := make([]*cells.Pool, len(p.Arms)), map[int]bool{}
	for i, arm := range p.Arms {
		pools[i] = cells.PoolOf(s.TrialsOf(p.Cell, arm), p.Metric)
		for _, block := range pools[i].Rising() {
			blocks[block] = true
		}
	}
	logs := make([][]float64, len(pools))
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		var row []float64
		for _, pool := range pools {
			if x, ok := pool.Log(block); ok {
				row = append(row, x)
			}
		}
		if len(row) < len(pools) {
			continue
		}
		for i, x := range row {
			logs[i] = append(logs[i], x)
		}
	}
	p.Blocks, p.Of = len(logs[0]), len(blocks)
	return logs
}

// describe takes over what the study says of a step. One across arms that were left
// out is none of the study's.
func (t *Step) describe(spec record.Ladder) {
	for i, pair := range spec.Pairs() {
		if pair.Arm == t.Arm && pair.Base == t.Base && i < len(spec.Steps) {
			t.Title, t.Changes = spec.Steps[i].Title, spec.Steps[i].Changes
		}
	}
}

// slight is the part of what two profiles differ by below which an activity explains
// nothing, however sure it is.
const slight = 0.1

// named is how many activities a cause has where none is told apart from noise.
const named = 2

// addCauses sets the profiles' differences beside the steps whose metric they divide
// up.
func (p *Split) addCauses(differences []profile.Difference) {
	for _, d := range differences {
		if d.Cell != p.Cell || d.Metric != p.Metric {
			continue
		}
		if d.Arm == p.Whole.Arm && d.Base == p.Whole.Base {
			p.Whole.Cause = causeOf(d)
		}
		for k := range p.Steps {
			if d.Arm == p.Steps[k].Arm && d.Base == p.Steps[k].Base {
				p.Steps[k].Cause = causeOf(d)
			}
		}
	}
}

func causeOf(d profile.Difference) *Cause {
	c := &Cause{Pairs: d.Pairs, Whole: d.Whole}
	for _, a := range d.Activities {
		if a.Told && math.Abs(a.Difference) >= slight*math.Abs(d.Whole.Difference) {
			c.Activities = append(c.Activities, a)
		}
	}
	if len(c.Activities) == 0 {
		c.Activities = append(c.Activities, d.Activities[:min(named, len(d.Activities))]...)
	}
	return c
}
