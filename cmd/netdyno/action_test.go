package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"netdyno/test/programs"
)

// action is what the test reads of action.yml.
type action struct {
	Runs struct {
		Steps []struct {
			ID    string            `yaml:"id"`
			Shell string            `yaml:"shell"`
			Env   map[string]string `yaml:"env"`
			Run   string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

// step runs a step as the service does, with the program gh recording its
// arguments, and returns its exit status.
func (a action) step(t *testing.T, id string, env ...string) int {
	t.Helper()
	for _, s := range a.Runs.Steps {
		if s.ID != id {
			continue
		}
		given := strings.Join(env, "\n")
		for name := range s.Env {
			if !strings.Contains(given, name+"=") {
				t.Errorf("step %s: the test gives no %s", id, name)
			}
		}
		c := exec.Command(s.Shell, "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		c.Env = append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Logf("%s: %s", id, out)
		return c.ProcessState.ExitCode()
	}
	t.Fatalf("action.yml has no step %q", id)
	return 0
}

func TestTheActionRunsAGateAndCommentsItsTable(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	gh := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + at("argv") + "\n"
	if err := os.WriteFile(at("gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	arguments := "transport=go-net\nconnections=1,2\nwindow=100ms\nwarmup=20ms\nblocks=2\nprobes=0\n"
	code := a.step(t, "gate", "NETDYNO="+programs.Path(t, "netdyno"), "ARGUMENTS="+arguments,
		"TMPDIR="+dir, "GITHUB_OUTPUT="+at("output"), "GITHUB_STEP_SUMMARY="+at("summary"))
	if code != 0 {
		t.Fatalf("step gate ends with %d, want 0: the step verdict tells", code)
	}
	output, err := os.ReadFile(at("output"))
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for line := range strings.Lines(string(output)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		set[name] = value
	}
	table, err := os.ReadFile(filepath.Join(set["directory"], "gate.md"))
	if summary, _ := os.ReadFile(at("summary")); err != nil || string(summary) != string(table) {
		t.Errorf("the summary is %q, want gate.md (%v)", summary, err)
	}
	a.step(t, "comment", "GH_TOKEN=x", "PULL=7", "GITHUB_REPOSITORY=some/where", "DIRECTORY="+set["directory"], "PATH="+dir+":"+os.Getenv("PATH"))
	argv, _ := os.ReadFile(at("argv"))
	want := "pr\ncomment\n7\n--repo\nsome/where\n--body-file\n" + filepath.Join(set["directory"], "gate.md") + "\n--edit-last\n--create-if-none\n"
	if string(argv) != want {
		t.Errorf("gh is called with %q, want %q", argv, want)
	}
	for want := range 3 {
		if got := a.step(t, "verdict", fmt.Sprintf("STATUS=%d", want)); got != want {
			t.Errorf("status %d ends with %d", want, got)
		}
	}
}
