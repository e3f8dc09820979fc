package message

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
)

var golden = flag.Bool("golden", false, "rewrite golden files")

func TestABuiltInMessageIsWhatItsNameSays(t *testing.T) {
	for _, name := range Names() {
		s, err := Resolve(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var up struct{ Text string }
		if err := json.Unmarshal([]byte(s.Up.JSON), &up); err != nil || len(up.Text) != 48 || s.Up.Type != "netdyno.v1.Text" || s.Name != name {
			t.Errorf("%s: %s %s goes up (%v)", s.Name, s.Up.Type, s.Up.JSON, err)
		}
	}
	simple, _ := Resolve("simple", nil)
	var one struct{ Text string }
	if err := json.Unmarshal([]byte(simple.Down.JSON), &one); err != nil || len(one.Text) != 57 || simple.Down.Type != "netdyno.v1.Text" {
		t.Errorf("simple: %s %s comes down (%v)", simple.Down.Type, simple.Down.JSON, err)
	}
	twenty, _ := Resolve("complex", nil)
	var many map[string]string
	if err := json.Unmarshal([]byte(twenty.Down.JSON), &many); err != nil || len(many) != 20 || twenty.Down.Type != "netdyno.v1.Reply" {
		t.Errorf("complex: %s %s comes down (%v)", twenty.Down.Type, twenty.Down.JSON, err)
	}
	total := 0
	for i := range 20 {
		text := many[fmt.Sprintf("replyValue%d", i+1)]
		total += len(text)
		if len(text) < 57 || len(text) > 72 {
			t.Errorf("%q has %d bytes, not 57 to 72", text, len(text))
		}
	}
	if len(simple.Up.JSON) != 59 || len(simple.Down.JSON) != 68 || len(twenty.Down.JSON) != 1630 {
		t.Errorf("JSON of %d up, %d and %d down; documented are 59, 68 and 1,630", len(simple.Up.JSON), len(simple.Down.JSON), len(twenty.Down.JSON))
	}
	if total != 1278 {
		t.Errorf("twenty strings of %d bytes, documented are 1,278", total)
	}
}

func TestTheUsersOwnMessageIsResolved(t *testing.T) {
	for name, level := range map[string]string{
		"order":   "testdata/order.proto:shop.Order:testdata/order.json",
		"receipt": "testdata/order.proto:shop.Order:testdata/order.json:shop.Receipt:testdata/receipt.json",
		"amount":  "testdata/money/amount.proto:money.Amount:testdata/money/none.json",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Resolve(level, func(path string) ([]byte, error) {
				if strings.HasSuffix(path, "none.json") {
					return []byte("{ }"), nil
				}
				return os.ReadFile(path)
			})
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Resolve(level, os.ReadFile); err == nil && string(again.Descriptors) != string(s.Descriptors) {
				t.Error("compiled twice it has two descriptions")
			}
			compare(t, filepath.Join("testdata", name+".golden"), describe(t, s))
		})
	}
}

// describe writes a structure as golden files hold it. It reads the
// descriptors as a worker does, from the set alone.
func describe(t *testing.T, s contract.Structure) string {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(s.Descriptors, &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "name  %s\nfiles", s.Name)
	for _, f := range set.File {
		fmt.Fprintf(&text, " %s", f.GetName())
		if f.SourceCodeInfo != nil {
			t.Errorf("%s carries its source's comments and places", f.GetName())
		}
	}
	fmt.Fprintf(&text, "\nup    %s %s\ndown  %s %s\n", s.Up.Type, s.Up.JSON, s.Down.Type, s.Down.JSON)
	message, err := files.FindDescriptorByName(protoreflect.FullName(s.Up.Type))
	if err != nil {
		t.Fatal(err)
	}
	fields := dynamicpb.NewMessage(message.(protoreflect.MessageDescriptor)).Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		fmt.Fprintf(&text, "field %d %s: %s %s\n", f.Number(), f.JSONName(), f.Cardinality(), f.Kind())
	}
	return text.String()
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *golden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
	}
}

// An import is found beside the file or above it, as protoc finds it from a
// source tree's root.
func TestImportsAreFoundAboveTheFile(t *testing.T) {
	files := map[string]string{
		"tree/shop/v1/order.proto":  `syntax = "proto3"; import "shop/v1/item.proto"; import "beside.proto"; message Order { Item item = 1; Beside beside = 2; }`,
		"tree/shop/v1/item.proto":   `syntax = "proto3"; message Item { string name = 1; }`,
		"tree/shop/v1/beside.proto": `syntax = "proto3"; message Beside {}`,
		"d.json":                    `{"item": {"name": "x"}}`,
	}
	if _, err := Resolve("tree/shop/v1/order.proto:Order:d.json", in(files)); err != nil {
		t.Error(err)
	}
}

// in reads from a map of paths to texts.
func in(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		text, ok := files[path]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
}
