package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
)

// blockCount counts the trials of each block that have no record yet.
type blockCount map[int]int

func countBlocks(left []record.Trial) blockCount {
	c := blockCount{}
	for _, t := range left {
		if !t.Probe {
			c[t.Block]++
		}
	}
	return c
}

// completes tells whether an event is the last record of a block.
func (c blockCount) completes(e bench.Event) bool {
	if e.Record == nil || e.Trial.Probe {
		return false
	}
	c[e.Trial.Block]--
	return c[e.Trial.Block] <= 0
}

// last is the number of the last block.
func (c blockCount) last() int {
	last := 0
	for block := range c {
		last = max(last, block)
	}
	return last
}

const (
	// blocksBeforeRatio is how many blocks a ratio needs that is shown while a run
	// goes on: the interval of two is as wide as a barn door.
	blocksBeforeRatio = 3
	// readingShare bounds the time that reading the run takes: one part in so many.
	readingShare = 50
)

// soFar reads after a block what the run has found, from the run's own files as the
// report does, for what shows how it goes. It is called between trials.
type soFar struct {
	dir    session.Directory
	blocks blockCount
	again  time.Time // before which reading would take too much of the run's time
}

func newSoFar(dir session.Directory, left []record.Trial) *soFar {
	return &soFar{dir: dir, blocks: countBlocks(left)}
}

// after returns what was found, when an event ends a block that is wanted.
func (s *soFar) after(e bench.Event, wanted func(block int) bool) (found finding.Findings, is bool) {
	if !s.blocks.completes(e) || !wanted(e.Trial.Block) || time.Now().Before(s.again) {
		return found, false
	}
	begun := time.Now()
	r, err := readRun(s.dir)
	s.again = time.Now().Add(readingShare * time.Since(begun))
	return r.Findings, err == nil // the report at the end says what is wrong
}

// foundSoFar is the largest ratio on the first primary metric with its interval; of
// a single arm its figure. It is no verdict: those are left to the looks.
func foundSoFar(f finding.Findings) string {
	if len(f.Header.Study.Compare.Primary) == 0 {
		return ""
	}
	name := f.Header.Study.Compare.Primary[0]
	var most compare.Comparison
	for _, c := range f.Comparisons {
		if c.Primary && c.Metric == name && c.Verdict != compare.Invalid && c.Low < c.High && c.Known() &&
			(most.Ratio == 0 || math.Abs(math.Log(c.Ratio)) > math.Abs(math.Log(most.Ratio))) {
			most = c
		}
	}
	label := metric.Shown(name).Label
	if most.Ratio > 0 {
		return fmt.Sprintf("%s ÷ %s %s %s× (%s–%s)%s", most.Arm, most.Base, label,
			quantity.FormatFigure(most.Ratio), quantity.FormatFigure(most.Low), quantity.FormatFigure(most.High), cells.InCell(most.Cell))
	}
	if len(f.Cells) == 0 || len(f.Cells[0].Arms) != 1 {
		return ""
	}
	arm := f.Cells[0].Arms[0]
	s, ok := summaryOf(arm, name)
	if !ok || s.N < blocksBeforeRatio || !s.Sure() {
		return ""
	}
	scale := metric.Shown(name).Scale(s.Value)
	return strings.TrimSpace(fmt.Sprintf("%s %s %s (%s) %s", cells.ArmOf(f.Cells[0], arm), label, scale.Format(s.Value), scale.Interval(s.Low, s.High), scale.Unit))
}
