package main

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"netdyno/internal/quantity"
)

// A duration is what the blocks take together, however long: -d 1h is an hour.
func TestADurationIsLasted(t *testing.T) {
	for _, typed := range [][]string{{"connections=1,10,100"}, {"connections=50"}} {
		for _, text := range []string{"5s", "10s", "30s", "5m", "1h", "24h"} {
			d, err := quantity.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			p := looked{typed: slices.Clone(typed), arms: 1}
			p.lack("window", quickWindow.String())
			p.lack("warmup", quickWarmup.String())
			if err := p.last(text); err != nil {
				t.Fatal(err)
			}
			blocks, err := strconv.Atoi(p.level("blocks"))
			window, bad := quantity.ParseDuration(p.level("window"))
			if err != nil || bad != nil || window > mostWindow {
				t.Fatalf("%s: %q, %q", text, p.typed, p.set)
			}
			if lasts := time.Duration(blocks) * p.block(); lasts < d*9/10 || lasts > d*11/10 {
				t.Errorf("%v for %s: %d blocks of %v last %v", typed, text, blocks, p.block(), lasts)
			}
		}
	}
}
