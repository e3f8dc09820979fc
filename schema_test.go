package netdyno_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"netdyno/docs/schema"
	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

var updateSchema = flag.Bool("update", false, "rewrite docs/schema/findings.json")

const schemaFile = "docs/schema/findings.json"

// described are the packages whose comments describe the fields of findings.json.
var described = []string{
	"internal/contract", "internal/record", "internal/hist", "internal/read/trial", "internal/read/cells", "internal/read/compare",
	"internal/read/profile", "internal/read/best", "internal/read/ladder", "internal/read/search", "internal/read/view", "internal/read/cost", "internal/read/expect", "internal/read/answer", "internal/read/finding",
}

// findingsSchema describes findings.json: fields of newer versions are allowed,
// descriptions are those of a study's keys, else the Go comments.
func findingsSchema(t *testing.T) []byte {
	t.Helper()
	closed := map[reflect.Type][]any{}
	for _, v := range compare.Verdicts() {
		closed[reflect.TypeFor[compare.Verdict]()] = append(closed[reflect.TypeFor[compare.Verdict]()], v)
	}
	for _, l := range append(trial.Limits(), "") {
		closed[reflect.TypeFor[trial.Limit]()] = append(closed[reflect.TypeFor[trial.Limit]()], l)
	}
	r := &jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: true,
		Namer:                     definitionName,
		LookupComment: func(t reflect.Type, name string) string {
			if t.Kind() != reflect.Struct {
				return ""
			}
			f, _ := t.FieldByName(name)
			return f.Tag.Get("doc")
		},
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if texts, ok := closed[t]; ok {
				return &jsonschema.Schema{Type: "string", Enum: texts}
			}
			if t == reflect.TypeFor[metric.Values]() || t == reflect.TypeFor[trial.Cores]() {
				return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "number"}}
			}
			return nil
		},
	}
	for _, directory := range described {
		if err := r.AddGoComments("netdyno", directory); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(&finding.Findings{})
	s.ID = jsonschema.ID(fmt.Sprintf("urn:netdyno:findings:%d", finding.Schema))
	s.Title = fmt.Sprintf("findings.json of netdyno, version %d", finding.Schema)
	for _, d := range s.Definitions {
		emptyIsNull(d)
	}
	version, ok := s.Definitions["finding.Findings"].Properties.Get("schema")
	if !ok {
		t.Fatal("findings have no version")
	}
	version.Const = finding.Schema
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// definitionName tells types of one name in two packages apart; "" for a type without a
// name, which stands where it is used.
func definitionName(t reflect.Type) string {
	if t.PkgPath() == "" {
		return t.Name()
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// emptyIsNull allows null where Go writes it: a list or a map that is empty and that is
// not left out then.
func emptyIsNull(d *jsonschema.Schema) {
	if d.Properties == nil {
		return
	}
	for p := d.Properties.Oldest(); p != nil; p = p.Next() {
		if list := p.Value; slices.Contains(d.Required, p.Key) && (list.Type == "array" || list.Type == "object") {
			p.Value = &jsonschema.Schema{Description: list.Description, OneOf: []*jsonschema.Schema{list, {Type: "null"}}}
			list.Description = ""
		}
	}
}

func TestSchemaOfFindings(t *testing.T) {
	want := findingsSchema(t)
	if *updateSchema {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(schema.Findings, want) {
		t.Fatalf("%s is not what the Go types say: run go test . -run TestSchemaOfFindings -update", schemaFile)
	}
	if n := bytes.Count(want, []byte(`"description"`)); n < 150 {
		t.Errorf("only %d fields are described: the Go comments were not found", n)
	}
	v := compiled(t, want)
	for name, o := range map[string]synthetic.Options{
		"open loop":       {Rate: 20_000, SD: 0.02, Seed: 7, Blocks: 3},
		"several clients": {SD: 0.02, Clients: 2, Connections: []int{50}, Blocks: 2},
		"one block":       {Blocks: 1, Bare: true},
	} {
		header, trials, records := synthetic.Run(o)
		records[0].Outcome, records[0].Failure = record.Failed, &record.Failure{Kind: "timeout", Text: "\x1b[2J\xff"}
		found, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, v, found); err != nil {
			t.Errorf("findings of %s: %v", name, err)
		}
		found.Comparisons[0].Verdict = "great"
		if validate(t, v, found) == nil {
			t.Errorf("findings of %s with an unknown verdict are valid too", name)
		}
	}
	if validate(t, v, finding.Findings{}) == nil {
		t.Error("findings without a version are valid too")
	}
}

func compiled(t *testing.T, text []byte) *validator.Schema {
	t.Helper()
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("findings.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("findings.json")
}

func validate(t *testing.T, v *validator.Schema, found finding.Findings) error {
	t.Helper()
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.Validate(document)
}
