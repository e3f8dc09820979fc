package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// differ lists in what two runs differ besides their figures: machines, then
// programs, then the work, then what the programs were set to.
func (a *runPair) differ() {
	was, is := a.before.Header, a.after.Header
	if was.Facts.Rig != is.Facts.Rig {
		a.decisive("rig", fmt.Sprintf("%s, then %s", was.Facts.Rig, is.Facts.Rig))
	}
	a.differInHosts(was.Facts.Seats, is.Facts.Seats)
	a.differInPrograms(was.Facts.Tools, is.Facts.Tools)
	if was.Netdyno != is.Netdyno {
		a.addDifference("netdyno", fmt.Sprintf("%s, then %s", was.Netdyno, is.Netdyno))
	}
	a.differInStudy(a.before.Plan(), a.after.Plan())
	a.differInArms()
	for i := range a.result.Differences {
		if d := a.result.Differences[i]; d.Decisive {
			a.barred = "the runs cannot be compared: they differ in " + d.About + ": " + d.Text
			break
		}
	}
}

// differInStudy tells what was held or asked differently.
func (a *runPair) differInStudy(was, is cells.Plan) {
	cell := varied(a.before, a.after)
	for _, factor := range union(was.Hold, is.Hold) {
		one, other := was.Hold[factor], is.Hold[factor]
		if one == other || slices.Contains(cell, factor) {
			continue // what a cell has is told by cells
		}
		switch text := fmt.Sprintf("%s was %s, then %s", factor, orNothing(one), orNothing(other)); {
		case !sameSetting(factor, one, other):
			a.decisive("study", text)
		case slices.Contains(lengths, factor):
			a.addDifference("length", text)
		}
	}
	if one, other := was.Compare.Factor, is.Compare.Factor; one != other {
		a.decisive("study", fmt.Sprintf("it compared levels of %s, then of %s", one, other))
	}
	if one, other := was.Compare.Baseline, is.Compare.Baseline; one != other {
		a.decisive("study", fmt.Sprintf("its baseline was %s, then %s", one, other))
	}
}

func (a *runPair) differInHosts(was, is map[string]record.Host) {
	for _, seat := range union(was, is) {
		one, first := was[seat]
		other, second := is[seat]
		if !first || !second {
			a.decisive("hosts", fmt.Sprintf("host %s is in %s run only", seat, map[bool]string{true: earlier, false: later}[first]))
			continue
		}
		severe := record.DiffMachines(one, other)
		for _, text := range severe {
			a.decisive("machine", atSeat(seat, was)+text)
		}
		if x, y := busy(one), busy(other); math.Abs(x-y) > busier {
			a.addDifference("busy CPUs", fmt.Sprintf("%s%s before the first run, %s before the second", atSeat(seat, was), quantity.FormatShare(x), quantity.FormatShare(y)))
		}
		for _, text := range record.DiffHosts(one, other) {
			if !slices.Contains(severe, text) {
				a.addDifference("facts", atSeat(seat, was)+text)
			}
		}
	}
}

// busier is by how much more of the CPUs must have been busy to be told.
const busier = 0.1

// busy is the share of a host's CPUs that was busy before a run; 0 where that is not known.
func busy(h record.Host) float64 {
	share, _ := strconv.ParseFloat(h.Values["load.busy_share"], 64)
	return share
}

// atSeat names a seat where there are several.
func atSeat(seat string, seats map[string]record.Host) string {
	if len(seats) < 2 {
		return ""
	}
	return seat + ": "
}

// differInPrograms tells which programs are others: what two builds differ in
// is what is compared.
func (a *runPair) differInPrograms(was, is map[string]record.Binary) {
	for _, name := range union(was, is) {
		one, first := was[name]
		other, second := is[name]
		if !first || !second || one.SHA256 == other.SHA256 {
			continue
		}
		text := name + " is a different program"
		if one.Version != other.Version {
			text += fmt.Sprintf(": %s, then %s", one.Version, other.Version)
		}
		for _, l := range one.Libraries {
			for _, m := range other.Libraries {
				if l.Name == m.Name && l.Version != m.Version {
					text += fmt.Sprintf("; %s %s, then %s", l.Name, l.Version, m.Version)
				}
			}
		}
		a.addDifference("program", text)
	}
}

// differInArms tells what one run has and the other has not, and which arms
// were set differently.
func (a *runPair) differInArms() {
	names := func(f compare.Run) map[cells.Key]cells.Arm {
		all := map[cells.Key]cells.Arm{}
		for _, cell := range f.Cells {
			for _, arm := range cell.Arms {
				all[cells.KeyOf(cell.Name, arm.Name)] = arm
			}
		}
		return all
	}
	was, is := names(a.before), names(a.after)
	both, moved := 0, map[string]string{}
	for _, p := range places(was, is) {
		one, first := was[p]
		other, second := is[p]
		if !first || !second {
			a.addDifference("arms", fmt.Sprintf("%s%s is in %s run only", p.Arm, a.after.Plan().Names.At(p.Cell), map[bool]string{true: earlier, false: later}[first]))
			continue
		}
		both++
		var unlike []string
		for _, name := range union(one.Settings, other.Settings) {
			if x, y := one.Settings[name], other.Settings[name]; !sameSetting(name, x, y) {
				unlike = append(unlike, fmt.Sprintf("%s was %s, then %s", name, orNothing(x), orNothing(y)))
			}
		}
		if x, y := one.Settings[address], other.Settings[address]; x != y {
			moved[p.Arm] = fmt.Sprintf("%s: %s, then %s", p.Arm, orNothing(x), orNothing(y))
		}
		if len(unlike) > 0 && one.Settings != nil && other.Settings != nil {
			text := fmt.Sprintf("%s%s: %s", p.Arm, a.after.Plan().Names.At(p.Cell), FirstOf(unlike))
			a.addDifference("settings", text)
			a.barredArm[p] = "its settings differ: " + FirstOf(unlike)
		}
	}
	for _, arm := range slices.Sorted(maps.Keys(moved)) {
		a.addDifference("address", moved[arm])
	}
	if both == 0 {
		a.decisive("study", "no arm of a cell is in both runs")
	}
}

func places(a, b map[cells.Key]cells.Arm) []cells.Key {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.SortFunc(all, func(p, q cells.Key) int {
		return cmp.Or(strings.Compare(p.Cell, q.Cell), strings.Compare(p.Arm, q.Arm))
	})
	return slices.Compact(all)
}

// union returns the keys of either map, in order.
func union[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func orNothing(text string) string { return cmp.Or(text, "not set") }

// maxDifferences bounds how many facts one warning names.
const maxDifferences = 6

// FirstOf joins the first of many differences.
func FirstOf(differences []string) string {
	if more := len(differences) - maxDifferences; more > 0 {
		return strings.Join(differences[:maxDifferences], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(differences, "; ")
}
