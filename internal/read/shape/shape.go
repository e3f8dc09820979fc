// Package shape says how much of a published ratio is start-up: the ratio measured as its
// publication did, beside the same in a window after a warm-up. It is pure.
package shape

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Shape sets a published ratio measured as its publication did, a few exchanges
// from the first one on, beside the same ratio in a window after a warm-up. All
// figures are over the blocks that have both.
type Shape struct {
	Spec      record.Published `json:"spec"`
	Unmet     []cells.Unmet    `json:"unmet,omitempty"` // of the publication's conditions
	Cell      string           `json:"cell"`            // in the publication's shape
	Steady    string           `json:"steady"`          // the same in a window
	Level     float64          `json:"level"`           // 1 − the confidence of every interval here
	Blocks    int              `json:"blocks"`
	Shaped    stat.Estimate    `json:"shaped"`               // arm ÷ base in the publication's shape
	InWindow  stat.Estimate    `json:"in_window"`            // and in a window
	StartUp   stat.Estimate    `json:"start_up"`             // Shaped ÷ InWindow
	Told      bool             `json:"told"`                 // StartUp is told apart from 1
	NeedsMore int              `json:"needs_more,omitempty"` // blocks in all at which StartUp is expected to be told apart from 1 or within the margin of it; 0 when it is, or no number would
	Share     stat.Estimate    `json:"share"`                // of the logarithm of Shaped that is start-up; 0 unless Shared
	Shared    bool             `json:"shared"`               // Shaped is told apart from 1 too, so there is a share
	Reason    string           `json:"reason,omitempty"`     // why there are no figures
	Sentence  string           `json:"sentence"`
}

// Shapes are those of a study.
type Shapes []Shape

// Alike names what both cells share: the cell without the factors that end its trials.
func (x Shape) Alike() string { return levelsIn(x.Cell, false) }

// Ends name what ends the trials in the publication's shape, and in the window.
func (x Shape) Ends() (shaped, steady string) {
	return levelsIn(x.Cell, true), levelsIn(x.Steady, true)
}

// levelsIn returns the levels of a cell's name that are ends, or the others.
func levelsIn(cell string, areEnds bool) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(cell), func(level string) bool {
		factor, _, _ := strings.Cut(level, "=")
		return slices.Contains(ends, factor) != areEnds
	}), " ")
}

// ends are the factors that say when a trial ends and when it counts: in these alone
// the two cells of a shape differ.
var ends = []string{"amount", "window", "warmup", "warmup_max"}

// Read measures the published ratios that have a shape, in every cell that has it.
func Read(s *cells.Dataset) Shapes {
	var all Shapes
	for _, p := range s.Header.Study.Published {
		m, err := metric.Named(p.Metric)
		if len(p.Shape) == 0 || err != nil {
			continue
		}
		arms := []string{p.Arm, p.Base}
		shaped := s.CellsWith(p.Shape, arms)
		for _, cell := range shaped {
			for _, steady := range s.CellsWith(nil, arms) {
				if cell != steady && alikeButForEnds(s, p.Base, cell, steady) {
					x := shapeOf(s, p, m, cell, steady)
					x.Sentence = x.sentence()
					all = append(all, x)
				}
			}
		}
	}
	return all
}

// alikeButForEnds tells whether the trials of an arm differ in two cells by their
// ends alone, and in the second a window ends them.
func alikeButForEnds(s *cells.Dataset, arm, cell, steady string) bool {
	rest := func(name string) map[string]string {
		levels := maps.Clone(s.Of(name, arm)[0].Plan.Levels)
		for _, factor := range ends {
			delete(levels, factor)
		}
		return levels
	}
	amount := s.Of(steady, arm)[0].Plan.Levels["amount"]
	return (amount == "" || amount == "0") && maps.Equal(rest(cell), rest(steady))
}

func shapeOf(s *cells.Dataset, p record.Published, m metric.Metric, cell, steady string) Shape {
	x := Shape{Spec: p, Cell: cell, Steady: steady, Level: s.Level(), Unmet: s.Unmet(p.Under, cell, p.Arm, p.Base)}
	for _, of := range []string{cell, steady} {
		if why := compare.Refused(s, of, m, p.Arm, p.Base); why != "" && x.Reason == "" {
			x.Reason = cells.Spoken(of) + ": " + why
		}
	}
	if x.Reason != "" {
		return x
	}
	inShape := compare.PairUp(s, cell, p.Metric, p.Arm, p.Base).ByBlock() // logarithms
	inWindow := compare.PairUp(s, steady, p.Metric, p.Arm, p.Base).ByBlock()
	var whole, rest, startUp []float64 // logarithms, of the blocks that have both
	for _, block := range slices.Sorted(maps.Keys(cells.Subtract(inShape, inWindow))) {
		whole, rest, startUp = append(whole, inShape[block]), append(rest, inWindow[block]), append(startUp, inShape[block]-inWindow[block])
	}
	x.Blocks = len(whole)
	if x.Blocks < compare.LeastBlocks(cells.Level) {
		x.Reason = fmt.Sprintf("%d blocks have all figures, and at least %d are needed", x.Blocks, compare.LeastBlocks(cells.Level))
		return x
	}
	log, _ := stat.MeanAt(startUp, x.Level)
	x.Shaped, x.InWindow, x.StartUp = ratioOf(whole, x.Level), ratioOf(rest, x.Level), exp(log)
	x.Told = log.Low > 0 || log.High < 0
	if !x.Told {
		margin := math.Log1p(compare.Margin(s.Header.Study.Compare))
		needed := stat.BlocksToSettle(log.Point, stat.SD(startUp), stat.Bounds{Inside: margin}, x.Blocks+1)
		x.NeedsMore = compare.InAll(needed, x.Blocks, min(s.BlocksOf(cell, p.Arm, p.Base), s.BlocksOf(steady, p.Arm, p.Base)))
	}
	x.Share, x.Shared = stat.ShareAt(startUp, whole, x.Level)
	return x
}

func ratioOf(logs []float64, level float64) stat.Estimate {
	e, _ := stat.MeanAt(logs, level)
	return exp(e)
}

func exp(log stat.Estimate) stat.Estimate {
	return stat.Estimate{Point: cells.Finite(math.Exp(log.Point)), Low: cells.Finite(math.Exp(log.Low)), High: cells.Finite(math.Exp(log.High))}
}
