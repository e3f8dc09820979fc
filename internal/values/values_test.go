package values

import (
	"context"
	"errors"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
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
		`{"flag": "true"}`:                     `line 1, column 10: invalid value for bool field flag: "true"`,
		`{"wide": "9223372036854775808"}`:      `line 1, column 10: invalid value for int64 field wide: "9223372036854775808"`,
		`{"colour": "REED"}`:                   `line 1, column 12: invalid value for enum field colour: "REED"`,
		`{"numbers": [1, "ä", 2]}`:             `line 1, column 17: invalid value for int32 field numbers: "ä"`,
		`{"parts": [{}, {"parts": [[]]}]}`:     `line 1, column 27: unexpected token [`,
		`{"left": "a", "right": "b"}`:          `line 1, column 15: error parsing "right", oneof p.M.choice is already set`,
		`{"small": 1, "small": 2}`:             `line 1, column 14: duplicate field "small"`,
		`{"any": {"@type": "x/no.Such"}}`:      `line 1, column 19: unable to resolve "x/no.Such": "not found"`,
		"{\n\t\"inner\": {\n\t\t\"smal\": 1}}": `line 3, column 3: unknown field "smal"`,
		`{"small": 1,}`:                        `line 1, column 13: not JSON: invalid character '}' looking for beginning of object key string`,
		"{\"small\": 1\n":                      `line 2, column 1: not JSON: unexpected end of JSON input`,
		`{} {}`:                                `line 1, column 4: not JSON: invalid character '{' after top-level value`,
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
