package source

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/record"
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

// The reference of keys in the document is that of the tables.
func TestTheDocumentHasTheReferenceOfKeys(t *testing.T) {
	const document, begin, end = "../../../../docs/studies.md", "<!-- keys:begin -->\n", "<!-- keys:end -->\n"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no lines %q and %q", document, begin, end)
	}
	want := "| key | what stands there | what it says | typed |\n|---|---|---|---|\n" + rows("", studyBlock.abouts())
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("the keys in %s are not those of the tables; rewrite them by: make golden", document)
	}
	if err := os.WriteFile(document, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rows has a row for each key, and for those of its block.
func rows(prefix string, keys []about) string {
	var b strings.Builder
	for _, k := range keys {
		name, doc := prefix+k.name, k.doc
		if k.needed {
			doc += " (must be there)"
		}
		typed := ""
		if k.typed != "" {
			typed = "`" + k.typed + "=`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, k.form, doc, typed)
		b.WriteString(rows(name+".", k.keys))
	}
	return b.String()
}

// The page of claims is that of the study files: every conclusion of a publication has a
// row, and none of those that a full study can test is without a way to test it.
func TestTheClaimsPageIsThatOfTheStudies(t *testing.T) {
	const document, begin, end = "../../../../docs/claims.md", "<!-- claims:begin -->\n", "<!-- claims:end -->\n"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no lines %q and %q", document, begin, end)
	}
	var want strings.Builder
	for _, name := range List() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "-quick") || len(s.Claims) == 0 {
			continue
		}
		fmt.Fprintf(&want, "\n### %s\n\n| claim | of | tested |\n|---|---|---|\n", name)
		for _, c := range s.Claims {
			if c.Unmeasured != "" {
				t.Errorf("%s: nothing tests %q", name, c.Title)
			}
			of := c.Source
			if of == "" {
				of = "the study itself"
			}
			fmt.Fprintf(&want, "| %s | %s | `%s` |\n", c.Title, of, strings.ReplaceAll(record.WhereTested(name, c.Under, s.Needs(c)...), ": netdyno", ":` `netdyno"))
		}
	}
	want.WriteString("\n")
	if table == want.String() {
		return
	}
	if !*update {
		t.Fatalf("the claims in %s are not those of the studies; rewrite them by: make golden", document)
	}
	if err := os.WriteFile(document, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryKeyIsExplained(t *testing.T) {
	var check func(prefix string, keys []about)
	check = func(prefix string, keys []about) {
		for _, k := range keys {
			if k.form == "" || k.doc == "" || strings.ContainsAny(k.form+k.doc, "|\n") {
				t.Errorf("%s%s: %q, %q", prefix, k.name, k.form, k.doc)
			}
			check(prefix+k.name+".", k.keys)
		}
	}
	check("", studyBlock.abouts())
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
		if again := must(YAML(s)); string(again) != string(text) {
			t.Errorf("%s is written as\n%s", file, again)
		}
		all.Write(text)
	}
	var check func(keys []about)
	check = func(keys []about) {
		for _, k := range keys {
			if k.name != "cell" && !regexp.MustCompile(`(?m)(^| |\{)`+k.name+`:`).MatchString(all.String()) {
				t.Errorf("no file has the key %s", k.name)
			}
			check(k.keys)
		}
	}
	check(studyBlock.abouts())
}
