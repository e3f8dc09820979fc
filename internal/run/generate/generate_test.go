package generate

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/message"
	"netdyno/test/programs"
)

// order is a message of a user's with what can be awkward in one: names that
// workers link already, an import of protobuf's own, a service, nested types, a
// map, an option of its own.
var order = map[string]string{
	"exchange.proto": `syntax = "proto3"; package netdyno.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/descriptor.proto";
import "its own,=dir/money.proto";
option go_package = "example.com/not/to/be/used";
extend google.protobuf.FieldOptions { string note = 50000; }
message Text {
  int64 id = 1 [(note) = "x"];
  repeated Item items = 2;
  google.protobuf.Timestamp at = 3;
  map<string, Item> by_name = 4;
  message Item { string name = 1; oneof price { money.v1.Amount exact = 2; Colour colour = 3; } enum Colour { RED = 0; } }
}
service Exchange { rpc Unary(Text) returns (Text); }
`,
	"its own,=dir/money.proto": `syntax = "proto2"; package money.v1; message Amount { required int64 units = 1; optional string currency = 2 [default = "CHF"]; }`,
	"order.json":               `{"id": "7", "items": [{"name": "a", "exact": {"units": "3"}}], "at": "2026-11-21T22:40:00Z", "byName": {"b": {"colour": "RED"}}}`,
}

func resolved(t *testing.T) contract.Structure {
	t.Helper()
	m, err := message.Resolve("exchange.proto:netdyno.v1.Text:order.json", func(path string) ([]byte, error) {
		if text, there := order[path]; there {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// workers are programs of this tree, by their packages.
func workers(t *testing.T, packages ...string) []Worker {
	t.Helper()
	var all []Worker
	for _, p := range packages {
		path := programs.Path(t, filepath.Base(p))
		content, err := sum(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Worker{Path: path, SHA256: content, Source: p})
	}
	return all
}

// ready is what a worker says of itself and of a server's setup.
func ready(t *testing.T, path string, setup contract.Setup) (contract.Hello, contract.Ready) {
	t.Helper()
	line, err := json.Marshal(contract.Message{Setup: &setup})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(path)
	run.Stderr = os.Stderr
	in, inErr := run.StdinPipe()
	out, outErr := run.StdoutPipe()
	if err := errors.Join(inErr, outErr, run.Start()); err != nil {
		t.Fatal(err)
	}
	_, err = in.Write(append(line, '\n'))
	lines := contract.NewReader(out)
	hello, helloErr := lines.Read()
	answer, answerErr := lines.Read()
	if err := errors.Join(err, helloErr, answerErr, in.Close(), run.Wait()); err != nil {
		t.Fatalf("%s: %v; it said %+v", path, err, answer.Error)
	}
	if hello.Hello == nil || answer.Ready == nil {
		t.Fatalf("%s said %+v and %+v", path, hello, answer)
	}
	return *hello.Hello, *answer.Ready
}

func serving(transport, codec string, m contract.Structure) contract.Setup {
	return contract.Setup{Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: contract.Exchange{Codec: codec, Message: &m}}
}

// A worker is built with generated code for one message, and its hello names that message
// alone. A second build finds the first one. A damaged program is not used, and is built
// again to the same bytes.
func TestAWorkerIsBuiltWithTheCodeOfAMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles workers")
	}
	ctx, m := t.Context(), resolved(t)
	originals := workers(t, "netdyno/cmd/netdyno-worker-baidu-std", "netdyno/cmd/netdyno-worker-fasthttp")
	var said []string
	b := Builder{Cache: filepath.Join(t.TempDir(), "cache"), Say: func(text string) { said = append(said, text) }}
	if there, err := b.Built(ctx, m, originals); err != nil || there {
		t.Fatalf("an empty cache has the workers: %t, %v", there, err)
	}
	built, err := b.Build(ctx, m, originals)
	if err != nil {
		t.Fatal(err)
	}
	for i, transport := range []string{"baidu-std", "fasthttp"} {
		was, reflected := ready(t, originals[i].Path, serving(transport, "proto", m))
		is, generated := ready(t, built[originals[i].Path], serving(transport, "proto", m))
		if reflected.Generated || !generated.Generated {
			t.Errorf("%s: the original says generated %t, the built one %t", transport, reflected.Generated, generated.Generated)
		}
		if reflected.UpBytes != generated.UpBytes || generated.UpBytes == 0 {
			t.Errorf("%s: %d bytes by reflection, %d by generated code", transport, reflected.UpBytes, generated.UpBytes)
		}
		if was.Worker != is.Worker || !slices.EqualFunc(was.Transports, is.Transports, func(a, b contract.Transport) bool { return a.Name == b.Name }) {
			t.Errorf("%s: the built one introduces itself as %+v", transport, is)
		}
	}
	other := m
	other.Descriptors = append(slices.Clone(m.Descriptors), 0x9a, 0x06, 0) // an unknown field: the same types under another content
	if _, answer := ready(t, built[originals[0].Path], serving("baidu-std", "proto", other)); answer.Generated {
		t.Error("code of one message is taken for another's")
	}
	if edition, err := message.Resolve("../message/testdata/order.proto:shop.Order:../message/testdata/order.json", os.ReadFile); err != nil {
		t.Fatal(err)
	} else if built, err := b.Build(ctx, edition, originals[:1]); err != nil {
		t.Error(err)
	} else if _, answer := ready(t, built[originals[0].Path], serving("baidu-std", "proto", edition)); !answer.Generated {
		t.Error("edition 2023: no generated code")
	}
	if len(said) != 2 || !strings.Contains(said[0], "netdyno.v1.Text") {
		t.Errorf("said %q", said)
	}
	again(t, b, m, originals, built)
	if len(said) != 3 {
		t.Errorf("said %q, want thrice: for two messages and for a damaged entry", said)
	}
}

// again asks for workers that are there, one of which is then damaged.
func again(t *testing.T, b Builder, m contract.Structure, originals []Worker, built map[string]string) {
	t.Helper()
	if there, err := b.Built(t.Context(), m, originals); err != nil || !there {
		t.Errorf("what was built is there: %t, %v", there, err)
	}
	if second, err := b.Build(t.Context(), m, originals); err != nil || second[originals[0].Path] != built[originals[0].Path] {
		t.Errorf("built again: %v, %v", second, err)
	}
	damaged := built[originals[0].Path]
	want, err := sum(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), m, originals); err != nil {
		t.Fatal(err)
	}
	if got, err := sum(damaged); err != nil || got != want {
		t.Errorf("built again it has content %s (%v), was %s", got, err, want)
	}
	left, err := filepath.Glob(filepath.Join(b.Cache, staging+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// What keeps workers from being built is said in a line that names it.
func TestWhyAWorkerIsNotBuilt(t *testing.T) {
	m := resolved(t)
	b := Builder{Cache: filepath.Join(t.TempDir(), "cache")}
	fine := workers(t, "netdyno/cmd/netdyno-worker-baidu-std")
	silent := filepath.Join(t.TempDir(), "netdyno-worker-silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\necho none >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		env        [2]string
		workers    []Worker
	}{
		{"a worker without sources", "netdyno-worker-silent sources: none", [2]string{}, []Worker{{Path: silent, SHA256: "1", Source: "netdyno/x"}}},
		{"a package that is not there", "its sources have no package elsewhere/x", [2]string{}, []Worker{{Path: fine[0].Path, SHA256: "2", Source: "elsewhere/x"}}},
		{"no modules", "module lookup disabled by GOPROXY=off", [2]string{"GOMODCACHE", t.TempDir()}, []Worker{{Path: fine[0].Path, SHA256: "3", Source: fine[0].Source}}},
		{"no Go", "no go command is on PATH", [2]string{"PATH", t.TempDir()}, fine},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env[0] != "" {
				t.Setenv(c.env[0], c.env[1])
			}
			if _, err := b.Build(t.Context(), m, c.workers); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, err := filepath.Glob(filepath.Join(b.Cache, staging+"*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}
