package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/record"
)

// maxLooks bounds the looks of a study, the further ones included: each costs
// the others a part of the level (METHOD §6.10).
const maxLooks = 5

// leastLook is the first number of blocks that gives an interval at all.
const leastLook = 2

// The looks of a study that names none: it ends at the first of its stages at
// which every primary comparison is settled, and goes on to the further ones
// when it is told to. Why these: docs/decisions/0020-looks-that-go-on.md.
var (
	standardStages  = []int{6, 10, 16}
	standardFurther = []int{26, 42}
)

// readBlocks reads how many blocks a study has: one number, or the rising
// numbers after which it may stop, and those to which it goes on when told to.
// A study that gives its blocks alone has no further looks.
func (s *Study) readBlocks(blocks, further *entry) error {
	stages, more := standardStages, standardFurther
	var err error
	if blocks != nil {
		more = nil
		if stages, err = readLooks(blocks); err != nil {
			return err
		}
	}
	if further != nil {
		if more, err = readLooks(further); err != nil {
			return err
		}
		if last := stages[len(stages)-1]; more[0] <= last {
			return further.value.at.errorf("continue: found %d blocks, and the run has %d by itself; expected more", more[0], last)
		}
		if len(stages)+len(more) > maxLooks {
			return further.value.at.errorf("continue: blocks and continue have %d looks together; expected at most %d", len(stages)+len(more), maxLooks)
		}
	}
	s.Blocks, s.Further = stages[len(stages)-1], slices.Clone(more)
	if len(stages) > 1 {
		s.Stages = slices.Clone(stages)
	}
	if looks := s.looks(); len(looks) > 1 && looks[0] < leastLook {
		return blocks.value.at.errorf("blocks: the first stage has %d blocks; expected at least %d, of which an interval can be made", looks[0], leastLook)
	}
	return nil
}

// readLooks reads one number of blocks, or some rising ones.
func readLooks(e *entry) ([]int, error) {
	f, err := factorNamed("blocks")
	if err != nil {
		return nil, err
	}
	items := listed(e.value)
	if e.value.kind == mapping || len(items) == 0 || len(items) > maxLooks {
		return nil, e.value.at.errorf("%s: found %s; expected one number, or at most %d rising ones after which the run may stop, such as [6, 10, 16]", e.key, counted(e.value), maxLooks)
	}
	var looks []int
	for i, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a number of blocks", e.key, item.kind)
		}
		level, err := f.level(item.text)
		if err != nil {
			return nil, item.at.errorf("%s", err)
		}
		n := int(level.value)
		if i > 0 && n <= looks[i-1] {
			return nil, item.at.errorf("%s: stage %d has %d blocks after %d; expected rising numbers, as blocks add up from stage to stage", e.key, i+1, n, looks[i-1])
		}
		looks = append(looks, n)
	}
	return looks, nil
}

// looks are the blocks after which a run is judged.
func (s *Study) looks() []int {
	return record.Study{Blocks: s.Blocks, Stages: s.Stages, Further: s.Further}.Looks()
}

// planned is the number of blocks that the plan holds, those of further looks
// included.
func (s *Study) planned() int { return slices.Max(append([]int{s.Blocks}, s.Further...)) }

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

// blocksText writes the blocks, and what may follow them, as a study file has
// them.
func (s *Study) blocksText() string {
	text := "blocks: " + strconv.Itoa(s.Blocks)
	if len(s.Stages) > 0 {
		text = "blocks: " + numbers(s.Stages)
	}
	if len(s.Further) > 0 {
		text += "\ncontinue: " + numbers(s.Further)
	}
	return text
}

func numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
