package source

import (
	"strconv"
	"strings"

	"netdyno/internal/run/study"
)

// looks are numbers of blocks, rising, after which a run is judged.
type looks struct {
	at     position
	blocks []int
}

// readLooks reads one number of blocks, or some rising ones.
func readLooks(e entry) (*looks, error) {
	f, err := study.FactorNamed("blocks")
	if err != nil {
		return nil, err
	}
	items := listed(e.value)
	if e.value.kind == mapping || len(items) == 0 || len(items) > study.MaxLooks {
		return nil, e.value.at.errorf("%s: found %s; expected one number, or at most %d rising ones after which the run may stop, such as [6, 10, 16]", e.key, counted(e.value), study.MaxLooks)
	}
	l := &looks{at: e.value.at}
	for i, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a number of blocks", e.key, item.kind)
		}
		level, err := f.Level(item.text)
		if err != nil {
			return nil, item.at.errorf("%s", err)
		}
		n := int(level.Value)
		if i > 0 && n <= l.blocks[i-1] {
			return nil, item.at.errorf("%s: stage %d has %d blocks after %d; expected rising numbers, as blocks add up from stage to stage", e.key, i+1, n, l.blocks[i-1])
		}
		l.blocks = append(l.blocks, n)
	}
	return l, nil
}

// setLooks gives a study its blocks: those after which it may stop, and the
// further ones to which it goes on when it is told to. A study that gives its
// blocks alone has no further looks.
func setLooks(s *study.Study, blocks, further *looks) error {
	stages, more := study.StandardLooks()
	if blocks != nil {
		stages, more = blocks.blocks, nil
	}
	last := stages[len(stages)-1]
	if further != nil {
		more = further.blocks
		if more[0] <= last {
			return further.at.errorf("continue: found %d blocks, and the run has %d by itself; expected more", more[0], last)
		}
		if n := len(stages) + len(more); n > study.MaxLooks {
			return further.at.errorf("continue: blocks and continue have %d looks together; expected at most %d", n, study.MaxLooks)
		}
	}
	s.Blocks, s.Further = last, more
	if len(stages) > 1 {
		s.Stages = stages
	}
	if blocks != nil && len(stages)+len(more) > 1 && stages[0] < study.LeastLook {
		return blocks.at.errorf("blocks: the first stage has %d blocks; expected at least %d, of which an interval can be made", stages[0], study.LeastLook)
	}
	return nil
}

// blocksText writes the blocks, and what may follow them, as a study file has
// them.
func blocksText(s *study.Study) string {
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
