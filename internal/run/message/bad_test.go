package message

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestBadLevelsSayWhatWasExpected(t *testing.T) {
	const form = "FILE.proto:pkg.Type:DATA.json, or FILE.proto:pkg.Type:DATA.json:pkg.Reply:REPLY.json"
	for level, want := range map[string]string{
		"simpel":                  `no message "simpel"; did you mean "simple"?; your own is ` + form,
		"":                        `no message ""; expected one of simple, complex; your own is ` + form,
		"a.proto:T":               `message "a.proto:T": found 2 parts between colons, expected ` + form,
		"a.proto::d.json":         `message "a.proto::d.json": found 3 parts between colons, expected ` + form,
		"a.proto:T:d:R":           `message "a.proto:T:d:R": found 4 parts between colons, expected ` + form,
		"a.proto:T:d":             `read a.proto: file does not exist`,
		"dir/forbidden.proto:T:d": `read dir/forbidden.proto: permission denied`,
	} {
		read := func(path string) ([]byte, error) {
			if strings.HasSuffix(path, "forbidden.proto") {
				return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("permission denied")}
			}
			return in(nil)(path)
		}
		if _, err := Resolve(level, read); err == nil || err.Error() != want {
			t.Errorf("%q: error\n%v, want\n%s", level, err, want)
		}
	}
}

func TestABadProtoIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, proto, want string }{
		{"no semicolon", "syntax = \"proto3\";\nmessage T {\n  string a = 1\n}\n", `dir/t.proto:4:1: syntax error: expecting ';'`},
		{"no number", "syntax = \"proto3\";\nmessage T { string a; }", `dir/t.proto:2:13: field T.a: missing field tag number`},
		{"unknown type", "syntax = \"proto3\";\nmessage T { strin a = 1; }", `dir/t.proto:2:13: field T.a: unknown type strin`},
		{"number twice", "syntax = \"proto3\";\nmessage T { string a = 1; string b = 1; }", `dir/t.proto:2:38: message T: fields a and b both have the same tag 1`},
		{"number of another", "syntax = \"proto3\";\nmessage T { string a = 19000; }", `dir/t.proto:2:24: tag number 19000 is in disallowed reserved range 19000-19999`},
		{"open message", "syntax = \"proto3\";\nmessage T {", `dir/t.proto:2:12: syntax error: unexpected end of file`},
		{"JSON", `{"a": 1}`, `dir/t.proto:1:1: syntax error: unexpected '{'`},
		{"missing import", "syntax = \"proto3\";\nimport \"gone/away.proto\";\nmessage T { }", `dir/t.proto:2:8: no file gone/away.proto beside dir/t.proto or in a directory above it`},
		{"bad import", "syntax = \"proto3\";\nimport \"bad.proto\";\nmessage T { }", `dir/bad.proto:2:9: syntax error: unexpected int literal`},
		{"cycle", "syntax = \"proto3\";\nimport \"back.proto\";\nmessage T { }", `dir/back.proto:2:8: cycle found in imports: "back.proto" -> "t.proto" -> "back.proto"`},
		{"itself", "syntax = \"proto3\";\nimport \"t.proto\";\nmessage T { }", `dir/t.proto:2:8: cycle found in imports: "t.proto" -> "t.proto"`},
		{"empty", "", `dir/t.proto: no message type "T"; there is none`},
		{"no message", "syntax = \"proto3\";\nenum E { A = 0; }", `dir/t.proto: no message type "T"; there is none`},
		{"another case", "syntax = \"proto3\"; package p;\nmessage t { message T {} }", `dir/t.proto: no message type "T"; did you mean "p.t.T"?`},
		{"one letter", "syntax = \"proto3\"; package p;\nmessage Tt {}\nmessage Order {}", `dir/t.proto: no message type "T"; expected one of p.Tt, p.Order`},
		{"an enum", "syntax = \"proto3\";\nenum T { A = 0; } message Tee {}", `dir/t.proto: no message type "T"; expected one of Tee`},
		{"too long", strings.Repeat("// \n", MaxProto/4+1), `read dir/t.proto: has more than the 1.00 MiB that a .proto may have`},
	} {
		read := in(map[string]string{
			"dir/t.proto": c.proto, "d.json": "{}",
			"dir/bad.proto":  "syntax = \"proto3\";\nmessage 7 {}",
			"dir/back.proto": "syntax = \"proto3\";\nimport \"t.proto\";",
		})
		if _, err := Resolve("dir/t.proto:T:d.json", read); err == nil || err.Error() != c.want {
			t.Errorf("%s: error\n%v, want\n%s", c.name, err, c.want)
		}
	}
}

func TestValuesThatDoNotFitAreNamedWithTheirPlace(t *testing.T) {
	order, err := os.ReadFile("testdata/order.proto")
	if err != nil {
		t.Fatal(err)
	}
	amount, err := os.ReadFile("testdata/money/amount.proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, want string }{
		{"{\n  \"items\": [\n    {},\n    {\"quantity\": \"x\"}\n  ]\n}", `order.json:4:18: invalid value for int32 field quantity: "x"`},
		{`{"idd": 1}`, `order.json:1:2: unknown field "idd"`},
		{"", `order.json:1:1: not JSON: unexpected end of JSON input`},
		{"[]", `order.json:1:1: unexpected token [`},
		{"\b\x12\x04", `order.json:1:1: not JSON: invalid character '\b' looking for beginning of value`},
		{`{"signature": "` + strings.Repeat("A", MaxValues) + `"}`, `order.json: has 256 KiB, more than the 256 KiB that a message's JSON may have (shop.Order)`},
	} {
		read := in(map[string]string{"order.proto": string(order), "money/amount.proto": string(amount), "order.json": c.data})
		if _, err := Resolve("order.proto:shop.Order:order.json", read); err == nil || err.Error() != c.want {
			t.Errorf("%.80s: error\n%v, want\n%s", c.data, err, c.want)
		}
	}
}

func TestAReplyIsCheckedToo(t *testing.T) {
	read := in(map[string]string{"t.proto": `syntax = "proto3"; message T { bool a = 1; }`, "d.json": "{}", "r.json": `{"a": "true"}`})
	for level, want := range map[string]string{
		"t.proto:T:d.json:T:r.json": `r.json:1:7: invalid value for bool field a: "true"`,
		"t.proto:T:d.json:R:r.json": `t.proto: no message type "R"; expected one of T`,
		"t.proto:T:d.json:T:s.json": `read s.json: file does not exist`,
	} {
		if _, err := Resolve(level, read); err == nil || err.Error() != want {
			t.Errorf("%s: error\n%v, want\n%s", level, err, want)
		}
	}
}

func TestWhatALineCannotHoldIsRefused(t *testing.T) {
	var long strings.Builder
	long.WriteString("syntax = \"proto3\";\nmessage T {\n")
	name := strings.Repeat("long", 30)
	for i := range 3500 {
		fmt.Fprintf(&long, "  string %s_%d = %d;\n", name, i, i+1)
	}
	long.WriteString("}\n")
	_, err := Resolve("t.proto:T:d.json", in(map[string]string{"t.proto": long.String(), "d.json": "{}"}))
	const want = "message t.proto:T:d.json takes 1.17 MiB of a worker's setup, which has room for 960 KiB: descriptors of 897 KiB, values of 2 B up and 2 B down"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	many := map[string]string{"t.proto": `syntax = "proto3"; import "i0.proto"; message T {}`, "d.json": "{}"}
	for i := range maxFiles {
		many[fmt.Sprintf("i%d.proto", i)] = fmt.Sprintf(`syntax = "proto3"; import "i%d.proto";`, i+1)
	}
	if _, err := Resolve("t.proto:T:d.json", in(many)); err == nil || err.Error() != "compile t.proto: it takes more than 256 files" {
		t.Errorf("with %d imports: error %v", maxFiles, err)
	}
}

// Whatever stands in the files: an error or a message, in bounded memory.
func FuzzResolve(f *testing.F) {
	f.Add("syntax = \"proto3\";\nmessage T { string a = 1; map<string, T> b = 2; oneof c { int64 d = 3; } }", `{"a": "x", "b": {"c": {"d": "1"}}}`)
	f.Add("edition = \"2023\"; import \"google/protobuf/any.proto\"; message T { google.protobuf.Any a = 1; enum E { X = 0; } E e = 2; extensions 5 to max; }", `{"a": {"@type": "x/T"}}`)
	f.Fuzz(func(t *testing.T, proto, data string) {
		s, err := Resolve("t.proto:T:d.json", in(map[string]string{"t.proto": proto, "d.json": data}))
		if err == nil && (s.Up.Type != "T" || len(s.Descriptors) == 0) {
			t.Errorf("resolved to %+v", s)
		}
	})
}
