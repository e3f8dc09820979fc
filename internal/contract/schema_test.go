package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

var schemaPath = filepath.Join("..", "..", "contract", "contract.schema.json")

// enums are the closed sets of texts.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[Role]():       {Server, Client, Pair},
	reflect.TypeFor[Delivery]():   {DeliveryMessage, DeliveryChunks},
	reflect.TypeFor[OptionType](): {TypeInt, TypeFloat, TypeBool, TypeBytes, TypeDuration, TypeChoice, TypeText},
	reflect.TypeFor[Arrival]():    {Constant, Poisson, Drawn, Recorded},
	reflect.TypeFor[Feature]():    {FeatureTLS, FeatureFresh, FeatureStreamUp, FeatureStreamDown, FeatureStreamBoth, FeatureSizes, FeatureArrivals, FeatureGather, FeatureMix, FeatureTrace, FeatureDeadline, FeatureThink, FeatureMethods, FeatureTimes, FeatureWorkCPU, FeatureWorkSleep},
	reflect.TypeFor[WorkBy]():     {WorkCPU, WorkSleep},
	reflect.TypeFor[Stream]():     {StreamUp, StreamDown, StreamBoth},
	reflect.TypeFor[ErrorKind]():  {Unsupported, SetupFailed, Peer, Timeout, Invalid, Bug},
}

// generateSchema describes one line: exactly one message, unknown fields
// allowed, descriptions from the Go comments.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if texts, ok := enums[t]; ok {
				return &jsonschema.Schema{Type: "string", Enum: texts}
			}
			if t == reflect.TypeFor[Interfaces]() {
				return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Ref: "#/$defs/Interface"}}
			}
			return nil
		},
	}
	if err := r.AddGoComments("netdyno/internal/contract", "."); err != nil {
		t.Fatal(err)
	}
	// The comments are parsed from this directory, so their keys lack its path.
	for name, text := range r.CommentMap {
		r.CommentMap["netdyno/internal/contract"+strings.TrimPrefix(name, "netdyno/internal/contract/.")] = text
	}
	s := r.Reflect(&Message{})
	maps.Copy(s.Definitions, r.Reflect(&Interface{}).Definitions)
	s.Title = "one line of the netdyno worker contract, version 1"
	message := reflect.TypeFor[Message]()
	for i := range message.NumField() {
		if name := jsonName(message.Field(i)); name != "meter" {
			s.Definitions["Message"].OneOf = append(s.Definitions["Message"].OneOf, &jsonschema.Schema{Required: []string{name}})
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func TestSchemaIsCurrent(t *testing.T) {
	want := generateSchema(t)
	if *update {
		if err := os.WriteFile(schemaPath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("contract/contract.schema.json is not what the Go types say: run go test ./internal/contract -update")
	}
}

func compileSchema(t *testing.T) *validator.Schema {
	t.Helper()
	s, err := validator.NewCompiler().Compile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(s *validator.Schema, line string) error {
	value, err := validator.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// The schema accepts what the reader accepts. It refuses what the reader
// refuses, but for what a schema cannot see: lengths, depth, bits.
func TestSchemaAgreesWithVectors(t *testing.T) {
	s := compileSchema(t)
	unseen := regexp.MustCompile(`^(out of range|too long|too deep|no newline)`)
	for _, v := range readVectors(t) {
		err := validate(s, strings.TrimSuffix(v.stream(), "\n"))
		if v.Message != "" && err != nil {
			t.Errorf("%s: the schema refuses it: %v", v.Name, err)
		}
		if v.Reason != "" && err == nil && !unseen.MatchString(v.Reason) {
			t.Errorf("%s: the schema accepts what the reader refuses: %s", v.Name, v.Reason)
		}
	}
}

// Every example of the contract's pages is one of its lines, every message has one, and
// every field that the types know is named there.
func TestContractPageAgreesWithTypes(t *testing.T) {
	var text []byte
	for _, name := range []string{"CONTRACT.md", "DRAWS.md", "MIXES.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", "contract", name))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, page...)
	}
	s, seen := compileSchema(t), map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, `{"`) {
			continue
		}
		m, err := Parse([]byte(line))
		if err != nil {
			t.Errorf("example: %v", err)
			continue
		}
		if err := validate(s, line); err != nil {
			t.Errorf("example %.60s…: %v", line, err)
		}
		seen[m.Name()] = true
	}
	mixes, err := os.ReadFile(filepath.Join("..", "..", "contract", "MIXES.md")) // a page of it
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, mixes...)
	message := reflect.TypeFor[Message]()
	for i := range message.NumField() {
		if name := jsonName(message.Field(i)); name != "meter" && !seen[name] {
			t.Errorf("CONTRACT.md has no example of %s", name)
		}
	}
	for _, name := range fieldNames(message, map[reflect.Type]bool{}) {
		if !regexp.MustCompile(`[\x60".]` + name + `[\x60":.]`).Match(text) {
			t.Errorf("CONTRACT.md does not name the field %s", name)
		}
	}
}

// fieldNames lists the JSON names of all fields that can be reached from t;
// what the meter adds has its own page in meter.go.
func fieldNames(t reflect.Type, visited map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || visited[t] || t == reflect.TypeFor[Meter]() {
		return nil
	}
	visited[t] = true
	var names []string
	for i := range t.NumField() {
		names = append(names, jsonName(t.Field(i)))
		names = append(names, fieldNames(t.Field(i).Type, visited)...)
	}
	return names
}
