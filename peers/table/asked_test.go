package main

import (
	"os"
	"slices"
	"testing"

	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/peers/result"
)

// What is asked is asked of cells and of arms that their study has.
func TestAsksAreOfWhatStudiesHave(t *testing.T) {
	for _, a := range asks {
		path := "../" + a.study + ".yaml"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := source.ParseFile(path, text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, sweep := range s.Sweeps {
			if a.about(a.study, sweep.Label) {
				found = true
				for _, arm := range []string{a.ours, a.peer} {
					if arm != "" && !slices.Contains(armsOf(sweep), arm) {
						t.Errorf("%s: sweep %q has no arm %s", path, sweep.Label, arm)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: no sweep is labelled %q", path, a.work)
		}
	}
}

func armsOf(sweep study.Sweep) []string {
	var arms []string
	for _, v := range sweep.Vary {
		if v.Factor == study.ArmFactor {
			for _, l := range v.Levels {
				arms = append(arms, l.Text)
			}
		}
	}
	return arms
}

// Of a work of which something is asked, a ratio is shown that is asked for, and one of a
// single arm.
func TestShown(t *testing.T) {
	rows := []result.Row{{Work: "a", Asked: "≥ 1.0"}, {Work: "a", What: "client CPU"}, {Work: "a", Of: "uring"}, {Work: "b"}}
	if got := shown(rows); len(got) != 3 || got[1].Of != "uring" || got[2].Work != "b" {
		t.Errorf("shown are %+v", got)
	}
}
