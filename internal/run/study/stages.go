package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/record"
)

// maxStages bounds the looks of a study: each costs the others a part of the
// level (METHOD §6.10).
const maxStages = 5

// leastStage is the first number of blocks that gives an interval at all.
const leastStage = 2

// readBlocks reads how many blocks a study has: one number, or the rising
// numbers after which it may stop.
func (s *Study) readBlocks(e *entry) error {
	f, err := factorNamed("blocks")
	if err != nil {
		return err
	}
	s.Blocks = int(f.standard().value)
	if e == nil {
		return nil
	}
	items := listed(e.value)
	if e.value.kind == mapping || len(items) == 0 || len(items) > maxStages {
		return e.value.at.errorf("blocks: found %s; expected one number, or at most %d rising ones after which the run may stop, such as [6, 10, 16]", counted(e.value), maxStages)
	}
	var stages []int
	for i, item := range items {
		if item.kind != scalar {
			return item.at.errorf("blocks: found %s; expected a number of blocks", item.kind)
		}
		level, err := f.level(item.text)
		if err != nil {
			return item.at.errorf("%s", err)
		}
		n := int(level.value)
		switch {
		case i > 0 && n <= stages[i-1]:
			return item.at.errorf("blocks: stage %d has %d blocks after %d; expected rising numbers, as blocks add up from stage to stage", i+1, n, stages[i-1])
		case len(items) > 1 && n < leastStage:
			return item.at.errorf("blocks: the first stage has %d blocks; expected at least %d, of which an interval can be made", n, leastStage)
		}
		stages = append(stages, n)
	}
	s.Blocks = stages[len(stages)-1]
	if len(stages) > 1 {
		s.Stages = stages
	}
	return nil
}

// Before returns the trials that are run when a run stops after some blocks:
// all of those, and the probes.
func Before(trials []record.Trial, blocks int) []record.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Block > blocks && !t.Probe })
}

// counted says what a node is, and of a list how long.
func counted(n *node) string {
	if n.kind == list {
		return fmt.Sprintf("a list of %d", len(n.items))
	}
	return string(n.kind)
}

// blocksText writes the blocks as a study file has them.
func (s *Study) blocksText() string {
	if len(s.Stages) == 0 {
		return strconv.Itoa(s.Blocks)
	}
	texts := make([]string, len(s.Stages))
	for i, n := range s.Stages {
		texts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
