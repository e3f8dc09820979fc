package values

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"
)

const source = `syntax = "proto3";
package p;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Colour { GREY = 0; RED = 1; }
message M {
  bool flag = 1;
  int32 small = 2;
  uint32 count = 3;
  int64 wide = 4;
  uint64 size = 5;
  double price = 6;
  string name = 7;
  bytes blob = 8;
  Colour colour = 9;
  repeated M parts = 10;
  repeated int32 numbers = 11;
  map<string, M> named = 12;
  map<int32, Colour> colours = 13;
  oneof choice { string left = 14; string right = 15; }
  google.protobuf.Timestamp time = 16;
  google.protobuf.Duration span = 17;
  google.protobuf.FieldMask mask = 18;
  google.protobuf.Int32Value wrapped = 19;
  google.protobuf.Struct object = 20;
  google.protobuf.Any any = 21;
  M inner = 22;
  int32 long_name = 23;
}`

// nothing resolves no Any.
var nothing = dynamicpb.NewTypes(new(protoregistry.Files))

func message(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"m.proto": source}),
	})}
	files, err := compiler.Compile(context.Background(), "m.proto")
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Messages().ByName("M")
}

func TestWhatDoesNotFitIsSaidPrecisely(t *testing.T) {
	m := message(t)
	for text, want := range map[string]string{
		`{"flag": "true"}`:                     `line 1, column 10: flag: expected true or false, found "true"`,
		`{"small": 1.5}`:                       `line 1, column 11: small: expected a whole number from -2147483648 to 2147483647, found 1.5`,
		`{"small": 3000000000}`:                `line 1, column 11: small: expected a whole number from -2147483648 to 2147483647, found 3000000000`,
		`{"count": -1}`:                        `line 1, column 11: count: expected a whole number from 0 to 4294967295, found -1`,
		`{"wide": "9223372036854775808"}`:      `line 1, column 10: wide: expected a whole number of 64 bits, in a string or bare, found "9223372036854775808"`,
		`{"size": "-1"}`:                       `line 1, column 10: size: expected a whole number of 64 bits from 0, in a string or bare, found "-1"`,
		`{"price": "dear"}`:                    `line 1, column 11: price: expected a number (double), found "dear"`,
		`{"name": 7}`:                          `line 1, column 10: name: expected a string, found 7`,
		`{"blob": "ä"}`:                        `line 1, column 10: blob: expected bytes as base64 in a string, found "ä"`,
		`{"colour": "REED"}`:                   `line 1, column 12: colour: no value "REED" in enum p.Colour; did you mean "RED"?`,
		`{"colour": 1.5}`:                      `line 1, column 12: colour: expected a value of enum p.Colour, found 1.5`,
		`{"numbers": 1}`:                       `line 1, column 13: numbers: expected an array of int32, found 1`,
		`{"numbers": [1, "ä", 2]}`:             `line 1, column 17: numbers[1]: expected a whole number from -2147483648 to 2147483647, found "ä"`,
		`{"parts": [{}, {"parts": [[]]}]}`:     `line 1, column 27: parts[1].parts[0]: expected an object (p.M), found an array`,
		`{"named": []}`:                        `line 1, column 11: named: expected an object of string → p.M, found an array`,
		`{"named": {"ä": {"small": {}}}}`:      `line 1, column 27: named.ä.small: expected a whole number from -2147483648 to 2147483647, found an object`,
		`{"colours": {"1": "RED", "x": 1}}`:    `line 1, column 26: colours: invalid value for int32 key: "x"`,
		`{"colours": {"1": "BLUE"}}`:           `line 1, column 19: colours.1: no value "BLUE" in enum p.Colour; expected one of GREY, RED`,
		`{"left": "a", "right": "b"}`:          `line 1, column 15: "right" is one too many: oneof p.M.choice is already set`,
		`{"small": 1, "small": 2}`:             `line 1, column 14: "small" is there twice`,
		`{"longName": 1, "long_name": 2}`:      `line 1, column 17: "long_name" is there twice`,
		`{"time": "yesterday"}`:                `line 1, column 10: time: expected a time such as "2026-11-21T22:40:00Z", found "yesterday"`,
		`{"span": 5}`:                          `line 1, column 10: span: expected a duration such as "1.5s", found 5`,
		`{"mask": ["a"]}`:                      `line 1, column 10: mask: expected field names such as "id,customer.name", found an array`,
		`{"wrapped": "x"}`:                     `line 1, column 13: wrapped: expected a whole number from -2147483648 to 2147483647, found "x"`,
		`{"object": [1]}`:                      `line 1, column 12: object: expected an object (google.protobuf.Struct), found an array`,
		`{"any": {"@type": "x/no.Such"}}`:      `line 1, column 19: any.@type: type "x/no.Such" is not known: not found`,
		"{\n\t\"inner\": {\n\t\t\"smal\": 1}}": `line 3, column 3: inner: no field "smal" in p.M; did you mean "small"?`,
		`{"inner": {"inner": 7}}`:              `line 1, column 21: inner.inner: expected an object (p.M), found 7`,
		`{"small": 1,}`:                        `line 1, column 13: not JSON: invalid character '}' looking for beginning of object key string`,
		"{\"small\": 1\n":                      `line 2, column 1: not JSON: unexpected end of JSON input`,
		`{} {}`:                                `line 1, column 4: not JSON: invalid character '{' after top-level value`,
		`"` + strings.Repeat("ä", 60) + `"`:    `line 1, column 1: expected an object (p.M), found "` + strings.Repeat("ä", 39) + `…`,
	} {
		err := Read([]byte(text), dynamicpb.NewMessage(m), nothing)
		var misfit *MisfitError
		if !errors.As(err, &misfit) || misfit.Error() != want {
			t.Errorf("%s: error\n%v, want\n%s", text, err, want)
		}
	}
}

func TestWhatFitsIsRead(t *testing.T) {
	m := dynamicpb.NewMessage(message(t))
	if err := Read([]byte(`{"long_name": "7", "colours": {"-1": 1}, "parts": [null, {}]}`), m, nothing); err == nil {
		t.Error("null in a list is read")
	}
	if err := Read([]byte(` {"long_name": "7", "colours": {"-1": 1}, "parts": [{}], "inner": null} `), m, nothing); err != nil {
		t.Fatal(err)
	}
	if got := m.Get(m.Descriptor().Fields().ByName("long_name")).Int(); got != 7 {
		t.Errorf("long_name is %d, want 7", got)
	}
	if m.Has(m.Descriptor().Fields().ByName("inner")) {
		t.Error("null sets a message")
	}
}

// The place of an error is turned into an offset and back.
func TestOffsetIsTheInverseOfPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.StringOf(rapid.SampledFrom([]rune("aä\n \"{"))).Draw(t, "text"))
		at := len(string(text[:rapid.IntRange(0, len(text)).Draw(t, "runes")]))
		line, column := position([]byte(string(text)), at)
		if got := offset([]byte(string(text)), line, column); got != at {
			t.Errorf("offset %d is line %d, column %d, which is offset %d", at, line, column, got)
		}
	})
}

// Every value of any JSON is found by its offset, under the path that leads to
// it from the outside.
func TestLocateFindsEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b:", "ä", "{"}), 0, 4).Draw(t, "keys")
		var text, want strings.Builder
		for _, k := range keys {
			before := rapid.SampledFrom([]string{"", `"x": [1, {"y": {}}, []], `, "\n "}).Draw(t, "before")
			if rapid.Bool().Draw(t, "array") {
				text.WriteString(`[ {"z": [] } ,` + "\t")
				want.WriteString("[1]")
				continue
			}
			key, _ := json.Marshal(k)
			text.WriteString(`{` + before + string(key) + ` : `)
			if want.Len() > 0 {
				want.WriteString(".")
			}
			want.WriteString(k)
		}
		at := text.Len()
		text.WriteString(`"here"`)
		path, key, token := locate([]byte(text.String()), at)
		if pathText(path) != want.String() || key || token != `"here"` {
			t.Errorf("%s: found %q (key %v) at %q, want %q", text.String(), token, key, pathText(path), want.String())
		}
	})
}

func FuzzRead(f *testing.F) {
	m := message(f)
	f.Add(`{"parts": [{"small": "x"}], "named": {"a": {"b": 1}}}`)
	f.Add(`{"any": {"@type": "x/p.M"}, "object": {"a": [1]}, "colour": "BLUE"}`)
	f.Fuzz(func(t *testing.T, text string) {
		err := Read([]byte(text), dynamicpb.NewMessage(m), nothing)
		var misfit *MisfitError
		if err != nil && (!errors.As(err, &misfit) || misfit.Text == "") {
			t.Errorf("%q: error %v", text, err)
		}
	})
}
