package main

import (
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

func TestRunningTable(t *testing.T) {
	for _, name := range runningMetrics {
		if _, err := metric.Named(name); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		arms, blocks int
		want         string
	}{
		{1, 1, `(?m)^10 connections +[\d.]+ +\S+.* 0 +[\d.]+$`},
		{1, 3, `(?m)^10 connections +[\d.]+ +[\d.]+ % +\S+`},
		{2, 3, `(?m)^b at 50 connections .* [\d.]+× \([\d.]+–[\d.]+\) of a$`},
	} {
		f, err := finding.Find(synthetic.Run(synthetic.Options{
			Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}[:c.arms], Primary: []string{"exchanges_per_s"},
			Connections: []int{10, 50}, Blocks: c.blocks, SD: 0.02, Seed: 3,
		}))
		if err != nil {
			t.Fatal(err)
		}
		table := runningTable(f, c.blocks)
		text := strings.Join(table, "\n")
		if len(table) != 1+2*c.arms || !regexp.MustCompile(c.want).MatchString(text) || !strings.HasPrefix(text, "after "+quantity.Plural(c.blocks, "block")) {
			t.Errorf("%d arms, %d blocks:\n%s", c.arms, c.blocks, text)
		}
	}
}
