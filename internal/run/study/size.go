package study

import (
	"fmt"
	"strings"
)

// checkSize refuses a study whose plan is out of bounds. Pairs that several
// sweeps share count for each: the bound is on the work of planning too.
func (s *Study) checkSize() error {
	perBlock, perProbe := 0, 0
	var products []string
	for _, d := range s.designs() {
		cells, arms := 1, max(1, len(d.compared().Levels))
		for _, v := range d.crossed() {
			cells *= len(v.Levels)
			if cells > MaxTrials {
				break
			}
		}
		if len(s.Sweeps) > 0 && !hasText(d.compared().Levels, s.Compare.Baseline) {
			arms++
		}
		perBlock, perProbe = perBlock+cells*(arms+1), perProbe+cells*arms
		products = append(products, d.product())
		if perBlock > MaxTrials || perBlock*s.planned()+perProbe*s.Probes > MaxTrials {
			return s.top.errorf("the study plans more than %d trials: %s; vary fewer levels or run fewer blocks",
				MaxTrials, s.repeated(strings.Join(products, " + ")))
		}
	}
	return nil
}

// product prints the factors of a cross product: "3 arm × 10 connections".
func (s *Study) product() string {
	var parts []string
	for _, v := range s.Vary {
		parts = append(parts, fmt.Sprintf("%d %s", len(v.Levels), v.Factor))
	}
	if len(parts) == 0 {
		return "1"
	}
	return strings.Join(parts, " × ")
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
