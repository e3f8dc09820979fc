package codec

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"netdyno/internal/contract"
)

// every compiles testdata/every.proto to a serialized FileDescriptorSet.
func every(t testing.TB) []byte { return compiled(t, "every.proto") }

func compiled(t testing.TB, file string) []byte {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"testdata"}})}
	files, err := compiler.Compile(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	imports := files[0].Imports()
	for i := range imports.Len() {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(imports.Get(i).FileDescriptor))
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(files[0]))
	data, err := proto.Marshal(&set)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func everyTypes(t testing.TB) *Types {
	t.Helper()
	types, err := NewTypes(every(t))
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// Whatever message is drawn: what the struct says in JSON is what protobuf
// says in binary, and each codec brings back what it was given.
func TestBothCodecsCarryTheSameMessage(t *testing.T) {
	types := everyTypes(t)
	for _, name := range []string{"Every", "Scalars", "Optionals", "Lists", "Maps", "Known", "Tree"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d, err := types.message("every." + name)
				if err != nil {
					t.Fatal(err)
				}
				content := contract.Content{Type: "every." + name, JSON: protojson.MarshalOptions{Resolver: types.resolver}.Format(draw(t, d, 3).Interface())}
				agree(t, types, content)
			})
		})
	}
}

// agree fails unless both codecs carry content, and carry the same.
func agree(t rapid.TB, types *Types, content contract.Content) {
	t.Helper()
	var carried []proto.Message
	for _, c := range Standard() {
		kind, err := c.Kind(types, content)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Name(), err, content.JSON)
		}
		data, err := Encode(c, nil, kind.Content)
		if err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		back := kind.New()
		if err := Decode(c, data, back); err != nil {
			t.Fatalf("%s: decode %q: %v", c.Name(), data, err)
		}
		if !kind.Same(back) {
			t.Errorf("%s: %s comes back as another message", c.Name(), data)
		}
		if message, ok := back.(proto.Message); ok {
			carried = append(carried, message)
			continue
		}
		again, err := Encode(c, nil, back)
		if err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		message, err := types.fill(contract.Content{Type: content.Type, JSON: string(again)})
		if err != nil {
			t.Fatalf("%s: protobuf does not read %s: %v", c.Name(), again, err)
		}
		carried = append(carried, message)
	}
	if !bytes.Equal(encoded(t, carried[0]), encoded(t, carried[1])) {
		t.Errorf("proto carries %v, json %v", carried[0], carried[1])
	}
}

// encoded is a message's encoding, by which messages of a type made at run time
// and of one of generated code can be compared.
func encoded(t rapid.TB, m proto.Message) []byte {
	t.Helper()
	back := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	data, err := proto.Marshal(m)
	if err == nil {
		err = proto.Unmarshal(data, back)
	}
	if err == nil {
		data, err = proto.MarshalOptions{Deterministic: true}.Marshal(back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// draw makes any message of a type. Left out is what JSON cannot say and
// TestWhatAStructCannotSayIsRefused covers.
func draw(t *rapid.T, d protoreflect.MessageDescriptor, depth int) protoreflect.Message {
	m := dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if depth == 0 && f.Message() != nil || !rapid.Bool().Draw(t, "set "+string(f.Name())) {
			continue
		}
		switch n := rapid.IntRange(0, 3).Draw(t, "length"); {
		case f.IsMap():
			for range n {
				m.Mutable(f).Map().Set(drawScalar(t, f.MapKey()).MapKey(), drawValue(t, f.MapValue(), depth))
			}
		case f.IsList():
			for range n {
				m.Mutable(f).List().Append(drawValue(t, f, depth))
			}
		default:
			m.Set(f, drawValue(t, f, depth))
		}
	}
	return m
}

func drawValue(t *rapid.T, f protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	d := f.Message()
	if d == nil {
		return drawScalar(t, f)
	}
	of := func(text string) protoreflect.Value {
		m := dynamicpb.NewMessage(d)
		if err := protojson.Unmarshal([]byte(text), m); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return protoreflect.ValueOfMessage(m)
	}
	switch d.FullName() {
	case "google.protobuf.Timestamp":
		return of(fmt.Sprintf(`"%04d-02-03T04:05:06.%dZ"`, rapid.IntRange(1, 9999).Draw(t, "year"), rapid.IntRange(0, 999999999).Draw(t, "fraction")))
	case "google.protobuf.Duration":
		return of(fmt.Sprintf(`"%d.%ds"`, rapid.IntRange(-1e9, 1e9).Draw(t, "seconds"), rapid.IntRange(0, 999999999).Draw(t, "fraction")))
	case "google.protobuf.FieldMask":
		return of(rapid.SampledFrom([]string{`""`, `"a"`, `"aB.c,d"`}).Draw(t, "mask"))
	case "google.protobuf.Struct":
		return of(rapid.SampledFrom([]string{`{}`, `{"a":null,"b":[1,{"c":"d"}],"e":true}`}).Draw(t, "object"))
	case "google.protobuf.ListValue":
		return of(rapid.SampledFrom([]string{`[]`, `[null,1.5,"x",[{}]]`}).Draw(t, "array"))
	case "google.protobuf.Value":
		return of(rapid.SampledFrom([]string{`0`, `""`, `[null]`, `{"a":{}}`, `false`}).Draw(t, "value"))
	case "google.protobuf.Any":
		m := dynamicpb.NewMessage(d)
		m.Set(d.Fields().ByName("type_url"), protoreflect.ValueOfString("type.googleapis.com/every.Branch"))
		m.Set(d.Fields().ByName("value"), protoreflect.ValueOfBytes([]byte{0x12, 2, 'o', 'k'}))
		return protoreflect.ValueOfMessage(m)
	}
	return protoreflect.ValueOfMessage(draw(t, d, depth-1))
}

func drawScalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	name := string(f.Name())
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, name))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, name))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, name))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, name))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, name))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32).Draw(t, name) + 0)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, name) + 0) // no -0
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, name))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(rapid.SampledFrom([]protoreflect.EnumNumber{0, 1, -2}).Draw(t, name))
	default:
		return protoreflect.ValueOfString(rapid.StringN(0, 9, -1).Draw(t, name))
	}
}

// A struct says what a Go programmer's would.
func TestAStructSpeaksTheProtobufJSONMapping(t *testing.T) {
	types := everyTypes(t)
	for _, c := range []struct{ of, content, want string }{
		{"Scalars", `{"an_int64": 5, "aUint64": "18446744073709551615", "colour": 1, "someBytes": "_-8"}`,
			`{"anInt64":"5","aUint64":"18446744073709551615","someBytes":"/+8=","colour":"RED"}`},
		{"Scalars", `{"renamed": "x", "aBool": false, "anInt32": 1e3}`, `{"anInt32":1000,"another.name-2":"x"}`},
		{"Optionals", `{"aBool": false, "anInt64": 0, "someBytes": "", "colour": "GREY"}`, `{"aBool":false,"anInt64":"0","someBytes":"","colour":"GREY"}`},
		{"Lists", `{"int64s": [1, "-2"], "chunks": ["", "YQ=="], "numbers": [9007199254740993], "messages": [{}]}`,
			`{"int64s":["1","-2"],"chunks":["","YQ=="],"messages":[{}],"numbers":["9007199254740993"]}`},
		{"Maps", `{"bools": {"true": 1}, "int32s": {"-1": 2}, "messages": {"a": {"aBool": true}}}`, `{"bools":{"true":1},"int32s":{"-1":"2"},"messages":{"a":{"aBool":true}}}`},
		{"Known", `{"time": "2026-11-21T23:40:00+01:00", "duration": "1.50s", "empty": {}, "anInt64": 0, "mask": "", "object": {"a": [1, null]}, "any": {"@type": "type.googleapis.com/every.Branch"}}`,
			`{"time":"2026-11-21T22:40:00Z","duration":"1.500s","mask":"","object":{"a":[1,null]},"empty":{},"anInt64":"0","any":{"@type":"type.googleapis.com/every.Branch"}}`},
		{"Tree", `{"left": {"weight": 7, "left": {"name": "deep"}}}`, `{"left":{"left":{"name":"deep"},"weight":"7"}}`},
		{"Every", `{"number": 0}`, `{"number":"0"}`},
		{"Every", `{"shade": "GREY"}`, `{"shade":"GREY"}`},
	} {
		kind, err := StructKind(types, contract.Content{Type: "every." + c.of, JSON: c.content})
		if err != nil {
			t.Errorf("%s %s: %v", c.of, c.content, err)
			continue
		}
		if got, err := Encode(JSON{}, nil, kind.Content); err != nil || string(got) != c.want {
			t.Errorf("%s %s: encodes to\n%s (%v), want\n%s", c.of, c.content, got, err, c.want)
		}
	}
}

func TestAWellKnownTypeCanBeTheMessage(t *testing.T) {
	types := everyTypes(t)
	for name, content := range map[string]string{
		"Timestamp": `"2026-11-21T22:40:00Z"`, "Int64Value": `"7"`, "BytesValue": `"YQ=="`, "Struct": `{"a":[1]}`, "Empty": `{}`, "ListValue": `[1]`,
	} {
		agree(t, types, contract.Content{Type: "google.protobuf." + name, JSON: content})
	}
}

// What proto3 has left behind: required fields, groups, defaults, extensions.
func TestProto2IsCarried(t *testing.T) {
	types, err := NewTypes(compiled(t, "old.proto"))
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		`{"must": 0, "may": "other", "pair": {"left": "1"}, "pairs": [{}, {"right": false}]}`: "",
		`{"must": 1, "may": "usual"}`:  "",
		`{"may": "usual"}`:             `read old.Old: required field old.Old.must not set`,
		`{"must": 1, "[old.more]": 2}`: `put old.Old into a struct: json: unknown field "[old.more]"`,
	} {
		content := contract.Content{Type: "old.Old", JSON: content}
		if _, err := StructKind(types, content); err == nil && want == "" {
			agree(t, types, content)
		} else if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", content.JSON, err, want)
		}
	}
}

func TestWhatAStructCannotSayIsRefused(t *testing.T) {
	types := everyTypes(t)
	for _, c := range []struct{ of, content, want string }{
		{"Scalars", `{"aDouble": "NaN"}`, `put every.Scalars into a struct: field aDouble: expected float64, found a string; JSON has no number for NaN and infinity`},
		{"Lists", `{"messages": [{"colour": 7}]}`, `field messages.colour: expected string, found a number; an enum's value is its name, which an unknown number does not have`},
		{"Scalars", `{"aFloat": -0}`, `field aFloat comes back with another value: a struct cannot tell null and -0 from nothing`},
		{"Known", `{"value": null}`, `field value comes back with another value: a struct cannot tell null and -0 from nothing`},
		{"Wide0", `{}`, `message type every.Wide2 is too large for a struct: at most 10000 fields, those of its fields' types counted, and 100 messages within each other`},
		{"Unnameable", `{}`, `field every.Unnameable.field has JSON name "a,b", which encoding/json cannot have: a name is letters, digits and most punctuation, without ','`},
		{"Scalars", `{"aBool": 1}`, `read every.Scalars: line 1, column 11: invalid value for bool field aBool: 1`},
		{"Scalars", `{"aBol": true}`, `line 1, column 2: unknown field "aBol"`},
		{"Scalar", `{}`, `no message type every.Scalar in the descriptors, and it is not built in`},
		{"Colour", `{}`, `every.Colour is not a message type`},
		{"Maps.StringsEntry", `{}`, `every.Maps.StringsEntry is not a message type`},
		{"Scalars", `{"aString": "` + strings.Repeat("x", 256<<10) + `"}`, `has 256 KiB, more than the 256 KiB that a message's JSON may have`},
	} {
		_, err := StructKind(types, contract.Content{Type: "every." + c.of, JSON: c.content})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s %.60s: error\n%v, want\n… %s", c.of, c.content, err, c.want)
		}
	}
}

// Same is what verifies a connection: it must notice any change, and none
// where there is none.
func TestSameIsExact(t *testing.T) {
	types := everyTypes(t)
	content := contract.Content{Type: "every.Every", JSON: `{"number":"0","scalars":{"aDouble":0.1},"lists":{"strings":["a",""]},"tree":{"left":{"left":{"weight":"1"}}}}`}
	for _, c := range Standard() {
		kind, err := c.Kind(types, content)
		if err != nil {
			t.Fatal(err)
		}
		for other, want := range map[string]bool{
			content.JSON: true,
			strings.Replace(content.JSON, `"0"`, `"1"`, 1):          false,
			strings.Replace(content.JSON, `"number":"0",`, ``, 1):   false,
			strings.Replace(content.JSON, `"",`, `"",""`, 1):        true,
			strings.Replace(content.JSON, `["a",""]`, `["a"]`, 1):   false,
			strings.Replace(content.JSON, `"weight":"1"`, ``, 1):    false,
			strings.Replace(content.JSON, `0.1`, `0.1000000001`, 1): false,
		} {
			kind2, err := c.Kind(types, contract.Content{Type: content.Type, JSON: other})
			if err != nil {
				t.Fatal(err)
			}
			if got := kind.Same(kind2.Content); got != want {
				t.Errorf("%s: %s is the same: %v, want %v", c.Name(), other, got, want)
			}
		}
	}
	if kind, _ := StructKind(types, content); !kind.Same(decoded(t, kind, strings.Replace(content.JSON, `"lists":{`, `"lists":{"bools":[],`, 1))) {
		t.Error("an empty list is another message than an absent one")
	}
}

func decoded(t *testing.T, kind Kind, data string) any {
	t.Helper()
	message := kind.New()
	if err := Decode(JSON{}, []byte(data), message); err != nil {
		t.Fatal(err)
	}
	return message
}

// Hostile descriptors, contents and messages end in errors.
func FuzzKind(f *testing.F) {
	set := every(f)
	types := everyTypes(f)
	for _, seed := range []struct{ name, content, wire string }{
		{"every.Every", `{"number":"0","tree":{"left":{"children":[{}]}}}`, "CgIIAQ=="},
		{"every.Known", `{"time":"2026-11-21T22:40:00Z","any":{"@type":"type.googleapis.com/every.Branch"}}`, "CgA="},
		{"netdyno.v1.Reply", `{"replyValue1":"a"}`, "CgFh"},
	} {
		wire, _ := base64.StdEncoding.DecodeString(seed.wire)
		f.Add(set, seed.name, seed.content, wire)
	}
	f.Fuzz(func(_ *testing.T, set []byte, name, content string, wire []byte) {
		tries := []*Types{types}
		if own, err := NewTypes(set); err == nil {
			tries = append(tries, own)
		}
		for _, types := range tries {
			for _, c := range Standard() {
				if kind, err := c.Kind(types, contract.Content{Type: name, JSON: content}); err == nil {
					_ = Decode(c, wire, kind.New())
				}
			}
		}
	})
}
