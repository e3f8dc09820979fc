package compare

import (
	"iter"
	"maps"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

const (
	// leastContrast is the share of the CPUs from which it counts that others took more
	// beside one arm. Where an exchange costs more by half of what they take, that moves a
	// block's ratio by 2.5 %; below, a line costs more than it explains.
	leastContrast = 0.05
	// leastFitted is how many blocks a line with a scatter about it takes.
	leastFitted = 3
	// leastQuiet is how many quiet blocks a tail can be judged on.
	leastQuiet = 16
)

// contrast is who was beside whom in the blocks of two arms.
type contrast struct {
	arm, base float64 // mean shares of the CPUs that other processes used beside each
	apart     bool    // in every block others used more beside the same arm, so that no block tells what is whose
	quiet     bool    // the pairs are those of the blocks that others left quiet
	fitted    bool    // the pairs are those at equal shares
	lever     float64 // of fitted ones: how far off equal shares are, mean² ÷ mean square about the mean
}

// atEqualShares sets the pairs of a figure with time in it to what they are where others
// take as much of the CPUs beside the one arm as beside the other: a line through the
// effects by the difference of these shares, at 0. The hypervisor is one of these others.
// Whether that is done depends on the shares alone, never on the figures, so that intervals
// keep their confidence.
//
// Source: J. L. Fleiss, The Design and Analysis of Clinical Experiments, 1986, chapter 7
// (analysis of covariance), of differences within blocks.
func (p *Pairs) atEqualShares(name string, arm, base iter.Seq[*trial.Trial]) {
	m, err := metric.Named(name)
	if err != nil || !hasTime(m.Unit) || len(p.Blocks) == 0 {
		return
	}
	var more, differ []float64 // by block, of other processes and of all that others took
	ours, ourAll := sharesBeside(m, arm)
	theirs, theirAll := sharesBeside(m, base)
	n := float64(len(p.Blocks))
	for _, block := range p.Blocks {
		a, b := stat.Mean(ours.Of(block)), stat.Mean(theirs.Of(block))
		p.beside.arm, p.beside.base = p.beside.arm+a/n, p.beside.base+b/n
		more, differ = append(more, a-b), append(differ, stat.Mean(ourAll.Of(block))-stat.Mean(theirAll.Of(block)))
	}
	side := math.Copysign(1, p.beside.arm-p.beside.base)
	p.beside.apart = max(p.beside.arm, p.beside.base) >= trial.LeastOfOthers &&
		!slices.ContainsFunc(more, func(x float64) bool { return !(side*x >= leastContrast) })
	if len(p.Blocks) >= leastFitted && stat.SD(differ) >= leastContrast && !p.beside.apart {
		p.fit(differ)
	}
}

// quietBlocks are the blocks of two arms that alternated in which others took less of the CPUs
// beside each than is told; nil of other figures than tails, where all blocks are, and where
// too few are. A few bursts of others make a tail of all blocks. What is left out depends on
// others alone, never on the figures.
func quietBlocks(name string, arms ...iter.Seq[*trial.Trial]) map[int]bool {
	if m, err := metric.Named(name); err != nil || !isTail(m) {
		return nil
	}
	quiet := map[int]bool{}
	for _, trials := range arms {
		for t := range trials {
			if t.Status != trial.Valid {
				continue
			}
			if !t.Alternated {
				return nil
			}
			calm, known := quiet[t.Block]
			quiet[t.Block] = (calm || !known) && t.Beside+t.Values.At(metric.HostSteal) < trial.LeastOfOthers
		}
	}
	all := len(quiet)
	maps.DeleteFunc(quiet, func(_ int, calm bool) bool { return !calm })
	if len(quiet) == all || len(quiet) < leastQuiet {
		return nil
	}
	return quiet
}

// within are the trials of some blocks.
func within(blocks map[int]bool, trials iter.Seq[*trial.Trial]) iter.Seq[*trial.Trial] {
	return func(yield func(*trial.Trial) bool) {
		for t := range trials {
			if blocks[t.Block] && !yield(t) {
				return
			}
		}
	}
}

// fit takes from the effects what differences of shares explain.
func (p *Pairs) fit(differ []float64) {
	mean, effect := stat.Mean(differ), stat.Mean(p.Effects)
	squares, products := 0.0, 0.0
	for i, x := range differ {
		squares += (x - mean) * (x - mean)
		products += (x - mean) * (p.Effects[i] - effect)
	}
	slope := products / squares
	p.beside.fitted, p.beside.lever = true, float64(len(differ))*mean*mean/squares
	for i, x := range differ {
		p.Effects[i] -= slope * x
		p.Ratios[i] = Bounded(p.Effects[i])
	}
	half := slope * mean / 2 // both figures move to the shares' middle
	p.Value, p.Base = cells.Finite(p.Value*math.Exp(-half)), cells.Finite(p.Base*math.Exp(half))
}

// Mean returns the mean effect and how sure it is; false for fewer than two blocks. A line
// took one degree of freedom, and is the less sure at equal shares the farther these are.
func (p Pairs) Mean() (stat.Uncertain, bool) {
	u, ok := stat.MeanOf(p.Effects)
	if p.beside.fitted {
		u.Error *= math.Sqrt(u.Degrees / (u.Degrees - 1) * (1 + p.beside.lever))
		u.Degrees--
	}
	return u, ok
}

// sharesBeside are the shares of the CPUs by block that other processes used, and that they
// and the hypervisor took, beside the trials that have a figure.
func sharesBeside(m metric.Metric, trials iter.Seq[*trial.Trial]) (processes, all *cells.Pool) {
	processes, all = &cells.Pool{}, &cells.Pool{}
	for t := range trials {
		if _, has := t.Values.Of(m.Name); t.Status == trial.Valid && (has || m.Kind != "") {
			processes.Add(t.Block, t.Beside)
			all.Add(t.Block, t.Beside+t.Values.At(metric.HostSteal))
		}
	}
	return processes, all
}
