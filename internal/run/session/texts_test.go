package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// withText asks for a study of an arm that has a text.
func withText(out, text string, secret bool) Request {
	r := request(out, "blocks=2")
	r.Args = slices.DeleteFunc(r.Args, func(a string) bool { return strings.HasPrefix(a, "transport=") })
	r.Arms = []Arm{{Given: "a", Name: "a", Levels: map[string]string{"server": scripted, "client": scripted},
		Texts: map[string]study.Carried{"opt.client.says": {Bytes: []byte(text), Secret: secret}}}}
	return r
}

// holds returns the files under a directory that hold a text.
func holds(t *testing.T, directory, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if strings.Contains(string(content), text) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestATextLiesInTheRunsDirectoryByItsHash(t *testing.T) {
	workplace(t)
	const text = "two\nlines"
	out := filepath.Join(t.TempDir(), "run")
	s, run := opened(t, withText(out, text, false))
	level := s.All[0].Levels["opt.client.says"]
	file, err := s.texts.path(run.Dir, rig.Host{}, level)
	if err != nil || level != study.GivenPrefix+hash([]byte(text)) || filepath.Dir(file) != filepath.Join(out, "given") {
		t.Fatalf("level %s, file %s, %v", level, file, err)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != text {
		t.Errorf("kept %q, %v", content, err)
	}
	if err := run.file.Close(); err != nil {
		t.Fatal(err)
	}
	moved := out + "-moved"
	if err := os.Rename(out, moved); err != nil {
		t.Fatal(err)
	}
	_, again := opened(t, goesOn(t, moved))
	if len(again.Left) != len(run.Left) {
		t.Errorf("%d trials are left in the moved directory, want %d", len(again.Left), len(run.Left))
	}
	if err := os.WriteFile(filepath.Join(moved, "given", filepath.Base(file)), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := refused(t, goesOn(t, moved)); !strings.Contains(said, "is not what the run began with") {
		t.Errorf("a changed text: %s", said)
	}
}

func TestASecretTextIsKeptNowhere(t *testing.T) {
	workplace(t)
	const secret = "Authorization: Bearer s3cret-token"
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	abandoned := filepath.Join(cache, "netdyno", "secret", "999999999") // above every pid
	if err := os.MkdirAll(abandoned, 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	r := withText(out, secret, true)
	s, err := Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	level := s.All[0].Levels["opt.client.says"]
	file, err := s.texts.path(run.Dir, rig.Host{}, level)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", file, info.Mode(), err)
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("what a process left that is gone is still there")
	}
	if err := run.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{out, cache} {
		if left := holds(t, place, "s3cret"); left != nil {
			t.Errorf("the secret is in %v after the run", left)
		}
	}
	if said := refused(t, goesOn(t, out)); !strings.Contains(said, "secret and were not kept") || !strings.Contains(said, "--resume") {
		t.Errorf("to go on without the secret: %s", said)
	}
	copied := request(out + "-again")
	copied.Args = []string{run.Dir.Study()}
	if said := refused(t, copied); !strings.Contains(said, "secret and were not kept") {
		t.Errorf("to begin again without the secret: %s", said)
	}
	r = withText(out, secret+"-renewed", true)
	r.Resume = true
	again, _ := opened(t, r)
	if again.All[0].Levels["opt.client.says"] != level {
		t.Error("a resumed run has another level for its secret")
	}
}

func TestAStudysFilesAreRelativeToIt(t *testing.T) {
	workplace(t)
	directory := t.TempDir()
	for name, text := range map[string]string{
		"body":       "a\nb",
		"study.yaml": "study: x\nhold: {transport: " + scripted + ", connections: 1, window: 10ms, warmup: 1ms, opt.client.says: \"@body\"}\n",
		"at.yaml":    "study: x\nhold: {transport: " + scripted + ", connections: 1, window: 10ms, warmup: 1ms, opt.client.says: \"@@body\"}\n",
		"none.yaml":  "study: x\nhold: {transport: " + scripted + ", connections: 1, window: 10ms, warmup: 1ms, opt.client.says: \"@none\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	named := func(name string) Request {
		return Request{Args: []string{filepath.Join(directory, name)}, Rig: rig.LoopbackName, Out: Directory(filepath.Join(directory, "out-"+name)), DryRun: true}
	}
	for name, want := range map[string]string{"study.yaml": study.GivenPrefix + hash([]byte("a\nb")), "at.yaml": "@@body"} {
		s, err := Prepare(t.Context(), named(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.All[0].Levels["opt.client.says"]; got != want {
			t.Errorf("%s: the level is %s, want %s", name, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if said := refused(t, named("none.yaml")); !strings.Contains(said, "none.yaml:2") || !strings.Contains(said, "no such file") {
		t.Errorf("a file that is not there: %s", said)
	}
}

// A rig whose hosts have other files gets the texts with the programs.
func TestATextIsBroughtToTheHosts(t *testing.T) {
	workplace(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "rig.yaml")
	if err := os.WriteFile(file, []byte("rig: prefix\nhosts:\n  - {name: a, prefix: [env], address: 127.0.0.1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	r := withText(out, "two\nlines", false)
	r.Rig = file
	run := measured(t, r)
	so, err := run.soFar()
	if err != nil || len(so.Records) == 0 {
		t.Fatalf("%d records, %v", len(so.Records), err)
	}
	for _, worker := range so.Records[0].Workers {
		named, _ := worker.Setup.Options["says"].(string)
		there := strings.TrimPrefix(named, "@")
		if there == named || strings.HasPrefix(there, out) || filepath.Base(there) != hash([]byte("two\nlines")) {
			t.Errorf("the worker at host a was told %q", named)
		}
		if content, err := os.ReadFile(there); err != nil || string(content) != "two\nlines" {
			t.Errorf("%s holds %q, %v", there, content, err)
		}
	}
}
