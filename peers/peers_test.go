package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/study/source"
)

// Every study of peers can be planned, and each of its load generators is told how many
// connections to make, and the rate where the study sets one.
func TestStudiesOfPeers(t *testing.T) {
	paths, err := filepath.Glob("*.yaml")
	if err != nil || len(paths) < 6 {
		t.Fatalf("there are %d studies, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := source.ParseFile(path, text)
		if err != nil {
			t.Error(err)
			continue
		}
		trials, _, err := s.Plan()
		if err != nil || len(trials) == 0 {
			t.Errorf("%s: %d trials, %v", path, len(trials), err)
		}
		for _, trial := range trials {
			command := trial.Levels["opt.client.command"]
			if trial.Levels["client"] != "exec" {
				continue
			}
			if rate := trial.Levels["rate"]; rate != "" && rate != "max" && !strings.Contains(command, "{rate") {
				t.Errorf("%s: arm %s is not told the rate", path, trial.Arm)
			}
			if !slices.ContainsFunc([]string{"{connections}", "{slots}"}, func(place string) bool { return strings.Contains(command, place) }) {
				t.Errorf("%s: arm %s is not told its connections: %s", path, trial.Arm, command)
			}
		}
	}
}
