package study

import (
	"fmt"
	"strings"
)

// MaxTrials bounds a plan, and with it the memory that planning takes.
const MaxTrials = 1_000_000

// CheckSize refuses a study whose plan is out of bounds. Pairs that several
// sweeps share count for each: the bound is on the work of planning too.
func (s *Study) CheckSize() error {
	perBlock, perProbe := 0, 0
	var products []string
	for _, d := range s.designs() {
		arms := d.comparedLevels().Levels
		cells, n := 1, max(1, len(arms))
		for _, v := range d.crossed() {
			cells *= len(v.Levels)
			if cells > MaxTrials {
				break
			}
		}
		if len(s.Sweeps) > 0 && !hasText(arms, s.Compare.Baseline) {
			n++
		}
		perBlock, perProbe = perBlock+cells*(n+1), perProbe+cells*n
		products = append(products, d.product())
		if perBlock > MaxTrials || perBlock*s.planned()+perProbe*s.Probes > MaxTrials {
			return Errorf(s.At, "the study plans more than %d trials: %s; vary fewer levels or run fewer blocks",
				MaxTrials, s.repeated(strings.Join(products, " + ")))
		}
	}
	return nil
}

// repeated prints a sum of products with what repeats it.
func (s *Study) repeated(sum string) string {
	if len(s.Sweeps) > 1 {
		sum = "(" + sum + ")"
	}
	text := fmt.Sprintf("%s × %d blocks", sum, s.planned())
	if s.Probes > 0 {
		text += fmt.Sprintf(" and %d probes", s.Probes)
	}
	return text
}
