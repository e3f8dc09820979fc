package history

import (
	"maps"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Beside is a run of a study set beside the first of several: on another rig, say. Nothing
// of it is judged, as the runs were not made in the same blocks.
type Beside struct {
	Differences []Difference         // of the study and the machine, from the first
	Comparisons []compare.Comparison // this run ÷ the first, arm by arm; the metrics in their order
}

// SideBySide sets every run but the first beside the first. The interval of a ratio holds
// the spread over the blocks of both runs, and not what changed between the runs.
func SideBySide(runs []compare.Run) []Beside {
	var all []Beside
	for _, run := range runs[1:] {
		a := runPair{before: runs[0], after: run, beside: true}
		a.differInStudy(runs[0].Header.Study, run.Header.Study)
		a.differInMachine(runs[0].Header.Facts.Seats, run.Header.Facts.Seats)
		a.differInPrograms(runs[0].Header.Facts.Tools, run.Header.Facts.Tools)
		twins := a.common()
		for _, m := range metric.All() {
			for _, t := range twins {
				t.floor = true // every arm by itself
				if b, measured := a.set(m, t, slices.Contains(runs[0].Header.Study.Compare.Primary, m.Name)); measured && b.Blocks >= 2 {
					b.LeaveUnjudged()
					a.result.Comparisons = append(a.result.Comparisons, b.Comparison)
				}
			}
		}
		all = append(all, Beside{a.result.Differences, a.result.Comparisons})
	}
	return all
}

// differInMachine compares what the first hosts of both runs tell of their machines: how
// many hosts a rig has, and what they are called, is the rig's.
func (a *runPair) differInMachine(was, is map[string]record.Host) {
	one, other := slices.Sorted(maps.Keys(was)), slices.Sorted(maps.Keys(is))
	if len(one) == 0 || len(other) == 0 {
		return
	}
	for _, text := range record.DiffMachines(was[one[0]], is[other[0]]) {
		a.addDifference("machine", text)
	}
}

// Cells returns the cells that any of the runs has, in the order of the first that has it,
// with their arms.
func Cells(runs []compare.Run) []cells.Key {
	var all []cells.Key
	for _, run := range runs {
		for _, cell := range run.Cells {
			for _, arm := range cell.Arms {
				if key := cells.KeyOf(cell.Name, arm.Name); !slices.Contains(all, key) {
					all = append(all, key)
				}
			}
		}
	}
	return all
}
