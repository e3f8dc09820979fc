package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/trials"
)

// The same run with Go on PATH and without: workers are built with the code of
// the message, once, or it goes by reflection and codecs are not compared.
func TestAMessageIsCompiledWithGoAndReflectedWithout(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	for name, text := range map[string]string{
		"order.proto": "syntax = \"proto3\";\npackage shop;\nmessage Order { int64 id = 1; repeated string items = 2; }\n",
		"order.json":  `{"id": "7", "items": ["bolt", "nut"]}`,
	} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	with := []string{"GOCACHE=" + strings.TrimSpace(string(cache)), "XDG_CACHE_HOME=" + filepath.Join(work, "cache")}
	without := append([]string{"PATH=" + installed(t)}, with...)
	own := typing(t, "transport=go-http1", "codec=proto,json", "compare.factor=codec", "connections=2", "amount=200", "blocks=2",
		"--proto", filepath.Join(work, "order.proto"), "--message", "shop.Order", "--data", filepath.Join(work, "order.json"))
	own.env = with
	const building, refused = "building workers for shop.Order", "by reflection, which costs more than generated code"

	code, said := own.run()
	if !finished(code, said) || strings.Count(said, building) != 1 || strings.Contains(said, refused) {
		t.Errorf("with Go: status %d, want 0, one build and nothing refused:\n%s", code, said)
	}
	own.encodes(t, "proto", true)
	own.encodes(t, "json", false)

	again := own
	again.dir += "-again"
	if code, said := again.run(); !finished(code, said) || strings.Contains(said, building) {
		t.Errorf("a second run: status %d, want 0 and no build:\n%s", code, said)
	}

	bare := own
	bare.env = without
	trials.Repeat(func() bool { // a disturbed trial leaves nothing to compare
		bare.dir += "-bare"
		code, said = bare.run()
		return trials.Disturbed(said)
	})
	page, err := os.ReadFile(filepath.Join(bare.dir, "report.html")) // with its warnings, of which a screen has the first
	if err != nil || !finished(code, said) || !bytes.Contains(page, []byte("shop.Order goes by reflection")) || !bytes.Contains(page, []byte(refused)) {
		t.Errorf("without Go: status %d, want 0, the reason and codecs that are not compared:\n%s", code, said)
	}
	bare.encodes(t, "proto", false)

	// A run is one of the two to its end.
	own.env = without
	if code, said := own.run("--resume"); code != statusRefused || !strings.Contains(said, "is not the program that the run began with") {
		t.Errorf("resumed without Go: status %d\n%s", code, said)
	}
	bare.env = with
	if code, said := bare.run("--resume"); code != statusRefused || !strings.Contains(said, "the run began without generated code") {
		t.Errorf("resumed with Go: status %d\n%s", code, said)
	}
}

// encodes demands that all workers of a codec's trials had generated code, or none.
func (n typed) encodes(t *testing.T, codec string, generated bool) {
	t.Helper()
	contents, err := record.Read(n.path("records.jsonl"))
	if err != nil || len(contents.Problems) > 0 {
		t.Fatalf("read records: %v %v", err, contents.Problems)
	}
	seen := 0
	for _, r := range contents.Records {
		for _, w := range r.Workers {
			if r.Trial.Levels["codec"] == codec && w.Ready != nil {
				seen++
				if w.Ready.Generated != generated {
					t.Errorf("%s of trial %s (%s): generated code %t, want %t", w.Name, r.Trial.ID, codec, w.Ready.Generated, generated)
				}
			}
		}
	}
	if seen == 0 {
		t.Errorf("no worker of codec %s was ready", codec)
	}
}
