package source

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var example = regexp.MustCompile("(?s)```yaml\n(study: .*?)```")

// Every study in the document can be run as it stands there.
func TestStudiesOfTheDocumentPlan(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/studies.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(text), -1)
	if len(examples) < 4 {
		t.Errorf("found %d studies: the document is not read as it is written", len(examples))
	}
	for i, e := range examples {
		s, err := ParseFile(fmt.Sprintf("studies.md, example %d", i+1), []byte(e[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if trials, warnings, err := s.Plan(); err != nil || len(trials) == 0 || len(warnings) > 0 {
			t.Errorf("%s: %d trials, %v, %v", s.Name, len(trials), warnings, err)
		}
	}
}

// The document names every key of a study file and of what it lists.
func TestTheDocumentNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/studies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]string{topKeys, sweepKeys, chartKeys, fitKeys, reachKeys, compareKeys} {
		for _, key := range keys {
			if key != "seed" && key != "factor" && !strings.Contains(string(text), key) {
				t.Errorf("%s is not in the document", key)
			}
		}
	}
}
