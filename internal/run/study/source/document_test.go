package source

import (
	"fmt"
	"os"
	"path/filepath"
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

// Nothing that a full study expects is without a way to test it.
func TestEveryStatementCanBeTested(t *testing.T) {
	for _, name := range List() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Expect {
			if c.Unmeasured != "" && !strings.HasSuffix(name, "-quick") {
				t.Errorf("%s: nothing tests %q", name, c.Name())
			}
		}
	}
}

func TestEveryKeyIsExplained(t *testing.T) {
	for _, k := range Keys() {
		if k.Form == "" || k.Doc == "" || strings.ContainsAny(k.Form+k.Doc, "\t\n") {
			t.Errorf("%s: %q, %q", k.Name, k.Form, k.Doc)
		}
	}
}

// A study that was written before is written the same: the files were, and hold every
// key.
func TestWhatIsWrittenStaysTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/written/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseFile(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		again := must(YAML(s))
		if *update {
			text = again
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if string(again) != string(text) {
			t.Errorf("%s is written as\n%s", file, again)
		}
		all.Write(text)
	}
	var check func(keys []key)
	check = func(keys []key) {
		for _, k := range keys {
			if !regexp.MustCompile(`(?m)(^| |\{)` + k.name + `:`).MatchString(all.String()) {
				t.Errorf("no file has the key %s", k.name)
			}
			check(k.keys)
		}
	}
	check(studyKeys())
}
