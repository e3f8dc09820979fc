package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
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
func (c blockCount) last() int { return slices.Max(append(slices.Collect(maps.Keys(c)), 0)) }

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

// foundSoFar is who leads, as far as intervals hold it; of a single arm its figure on the
// first primary metric. It is no verdict: those are left to the looks.
func foundSoFar(f finding.Findings) string {
	if said := f.Best.SoFar(); said != "" || len(f.Header.Study.Compare.Primary) == 0 || len(f.Cells) != 1 || len(f.Cells[0].Arms) != 1 {
		return said
	}
	name := f.Header.Study.Compare.Primary[0]
	arm := f.Cells[0].Arms[0]
	s, ok := summaryOf(arm, name)
	if !ok || s.N < blocksBeforeRatio || !s.Sure() {
		return ""
	}
	m := metric.Shown(name)
	scale := m.Scale(s.Value)
	return strings.TrimSpace(fmt.Sprintf("so far: %s %s %s (%s) %s", cells.ArmOf(f.Cells[0], arm), m.Label, scale.Format(s.Value), scale.Interval(s.Low, s.High), scale.Unit))
}
