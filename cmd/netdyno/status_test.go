package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/search"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/programs"
	"netdyno/test/synthetic"
)

// Every command has a line in the table, its help says it, and docs/commands.md has it.
func TestEveryCommandHasItsStatuses(t *testing.T) {
	doc, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range root().Commands() {
		i := slices.IndexFunc(statuses, func(s meanings) bool { return slices.Contains(s.commands, c.Name()) })
		if i < 0 {
			t.Errorf("%s has no line", c.Name())
		} else if !strings.Contains(c.Long, "Exit status:\n  0  "+wrapped(statuses[i].ok, "     ")) || !strings.Contains(c.Long, "\n  2  "+refused) {
			t.Errorf("the help of %s lacks its statuses: %s", c.Name(), c.Long)
		}
	}
	for _, s := range statuses {
		for _, of := range s.commands {
			name, _, _ := strings.Cut(of, " --")
			if c, rest, err := root().Find(strings.Fields(name)); err != nil || len(rest) > 0 || !c.HasParent() {
				t.Errorf("there is no command %s", name)
			}
		}
		row := fmt.Sprintf("| `%s` | %s | %s |\n", strings.Join(s.commands, "`, `"), s.ok, cmp.Or(s.unmet, "–"))
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/commands.md lacks the line\n%s", row)
		}
	}
}

// What a run ends with follows from what was measured, not from what came out.
func TestVerdictOfARun(t *testing.T) {
	some, stopped := cells.Tally{Planned: 9, Valid: 5, Failed: 3, Invalid: 1}, cells.Tally{Planned: 9, Valid: 5, Missing: 4}
	none := cells.Tally{Planned: 9, Failed: 9}
	open := &search.Search{Arms: []search.Arm{{Fate: search.Undecided, Why: "contradiction"}}}
	for name, c := range map[string]struct {
		tally cells.Tally
		found finding.Findings
		want  exit
	}{
		"some failed":                {some, finding.Findings{}, statusOK},
		"none valid":                 {none, finding.Findings{}, statusUnmet},
		"stopped":                    {stopped, finding.Findings{}, statusUnmet},
		"an undecided capacity":      {some, finding.Findings{Search: open}, statusOK},
		"a search that was stopped":  {stopped, finding.Findings{Search: open}, statusUnmet},
		"a search without a window":  {none, finding.Findings{Search: open}, statusUnmet},
		"hosts cannot be told":       {some, finding.Findings{Mesh: &mesh.Mesh{Unnamed: "too few"}}, statusOK},
		"no setting keeps the bound": {some, finding.Findings{Search: &search.Search{Choice: &search.Choice{State: search.Unkept}}}, statusOK},
		"a race that was stopped":    {stopped, finding.Findings{Search: &search.Search{Choice: &search.Choice{State: search.Running}}}, statusUnmet},
		"models":                     {some, finding.Findings{Costs: cost.Costs{{Models: []cost.Model{{}}}}}, statusOK},
		"a model is refused":         {some, finding.Findings{Costs: cost.Costs{{Models: []cost.Model{{}, {Reason: "it misses"}}}}}, statusUnmet},
	} {
		if c.found.Tally = c.tally; codeOf(verdict(c.found)) != c.want {
			t.Errorf("%s: status %d, want %d", name, codeOf(verdict(c.found)), c.want)
		}
	}
}

// A tour ends by what its studies ended with.
func TestStatusOfSeveralStudies(t *testing.T) {
	unmet, refused := error(&status{statusUnmet, nil}), errors.New("refused")
	for _, c := range []struct {
		ends []error
		want exit
	}{{[]error{nil, nil}, 0}, {[]error{nil, unmet}, 1}, {[]error{refused, nil}, 1}, {[]error{refused, unmet}, 1}, {[]error{refused, refused}, 2}} {
		if got := codeOf(together(c.ends)); got != c.want {
			t.Errorf("%v: status %d, want %d", c.ends, got, c.want)
		}
	}
}

// change alters the records of a run that is made up.
type change func(*record.Header, []record.Trial, []record.Record)

// made writes the directory of a run whose records are made up, changed by change.
func made(t *testing.T, dir string, args []string, change change) {
	t.Helper()
	s, err := source.ParseArgs(args, os.ReadFile)
	if err == nil && s.NeedsHosts() {
		s, err = s.OnHosts([]string{"node1", "node2", "node3", "node4"})
	}
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	header, records, err := synthetic.Planned(study.Summary(s), trials)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&header, trials, records)
	}
	text, err := source.YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	file, err := session.Directory(dir).Create(text, header, trials)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := file.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// become gives every nth record of an arm, or of all where it is "", an outcome.
func become(arm string, n int, outcome record.Outcome) change {
	return func(_ *record.Header, _ []record.Trial, records []record.Record) {
		for i, r := range records {
			if (arm == "" || r.Trial.Arm == arm) && i%n == n-1 {
				records[i] = record.Record{Schema: record.Schema, Trial: r.Trial, Outcome: outcome, Failure: &record.Failure{Kind: contract.Timeout, Text: "no answer"}}
			}
		}
	}
}

// unseen holds no cell back from the models of these metrics.
func unseen(metrics ...string) change {
	return func(h *record.Header, _ []record.Trial, _ []record.Record) {
		for i, c := range h.Study.Costs {
			if slices.Contains(metrics, c.Metric) {
				h.Study.Costs[i].Holdout = nil
			}
		}
	}
}

// by makes it a run of this command.
func by(args ...string) change {
	return func(h *record.Header, _ []record.Trial, _ []record.Record) {
		h.Command = append([]string{"netdyno", "run"}, args...)
	}
}

// slower gives every arm the figures of its block's first trial of the baseline, on a machine whose
// noise is known.
func slower(h *record.Header, _ []record.Trial, records []record.Record) {
	h.Facts.Calibration = &record.Calibration{Spreads: map[string]record.Spread{"exchanges_per_s": {Absolute: 0.005, Relative: 0.005, Runs: 16}}}
	base := map[int]record.Record{}
	for _, r := range records {
		if r.Trial.Arm == h.Study.Compare.Baseline && !r.Trial.Repeat {
			base[r.Trial.Block] = r
		}
	}
	for _, r := range records {
		for k, w := range base[r.Trial.Block].Workers {
			own := &r.Workers[k]
			own.Open, own.Close, own.Result = w.Open, w.Close, w.Result
		}
	}
}

// both makes one change after the other.
func both(one, other change) change {
	return func(h *record.Header, trials []record.Trial, records []record.Record) {
		one(h, trials, records)
		other(h, trials, records)
	}
}

// Every command, in the states that it can be in, ends with the status of the table, as
// JSON too. What a run ends with is what its report ends with.
func TestCommandsEndWithTheirStatus(t *testing.T) {
	programs.Whole(t)
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	two, loops := []string{"transport=go-net,go-epoll", "blocks=6"}, []string{"event-loops-quick"}
	made(t, at("valid"), two, nil)
	made(t, at("worse"), []string{"transport=go-http1,go-grpc,fasthttp,go-connect-http", "blocks=6"}, nil)
	made(t, at("slower"), two, slower)
	made(t, at("some"), two, become("", 5, record.Failed))
	made(t, at("one-arm"), two, become("go-epoll", 1, record.Failed))
	made(t, at("failed"), two, become("", 1, record.Failed))
	made(t, at("absent"), loops, become("asio", 1, record.Unsupported))
	made(t, at("named"), loops, both(by("event-loops-quick", "arm=go-net,asio"), become("asio", 1, record.Unsupported)))
	made(t, at("url"), two, both(by("http://127.0.0.1:1/"), become("", 1, record.Failed)))
	made(t, at("stopped"), two, nil)
	made(t, at("ended"), two, by("http://127.0.0.1:1/"))
	for _, name := range []string{"stopped", "ended"} {
		text, err := os.ReadFile(at(name + "/records.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		if err := os.WriteFile(at(name+"/records.jsonl"), bytes.Join(lines[:8], nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made(t, at("costs"), []string{"cost", "transport=go-http1"}, nil)
	made(t, at("one-end"), []string{"cost", "transport=go-http1"}, unseen("client.cpu_us_per_exchange"))
	made(t, at("no-end"), []string{"cost", "transport=go-http1"}, unseen("client.cpu_us_per_exchange", "server.cpu_us_per_exchange"))
	made(t, at("mesh"), []string{"mesh"}, nil)
	made(t, at("short-mesh"), []string{"mesh", "blocks=2"}, nil)
	if err := os.WriteFile(at("worker"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	load := []string{"--message", "1MiB", "--rate", "100"}
	for _, c := range []struct {
		want exit
		args []string
	}{
		{0, []string{"report", "valid"}}, {0, []string{"report", "some"}}, {1, []string{"report", "one-arm"}}, {1, []string{"report", "failed"}}, {2, []string{"report", "nowhere"}},
		{0, []string{"report", "absent"}}, {1, []string{"report", "named"}}, {1, []string{"report", "url"}}, {1, []string{"report", "stopped"}}, {0, []string{"report", "ended"}},
		{0, []string{"report", "valid", "--gate"}}, {1, []string{"report", "worse", "--gate"}}, {0, []string{"report", "some", "--gate"}}, {1, []string{"report", "one-arm", "--gate"}}, {1, []string{"report", "failed", "--gate"}}, {0, []string{"report", "valid", "--trial", "b01-001"}},
		{0, []string{"report", "costs"}}, {1, []string{"report", "one-end"}}, {0, []string{"report", "mesh"}}, {0, []string{"report", "short-mesh"}},
		{0, []string{"export", "valid", "--format", "csv"}}, {2, []string{"export", "nowhere", "--format", "csv"}}, {2, []string{"export", "valid"}},
		{0, []string{"compare", "valid", "valid"}}, {1, []string{"compare", "valid", "slower"}}, {1, []string{"compare", "valid", "one-arm"}}, {2, []string{"compare", "valid", "nowhere"}},
		{0, append([]string{"cost", "plan", "--from", "costs"}, load...)}, {1, append([]string{"cost", "plan", "--from", "one-end"}, load...)},
		{1, append([]string{"cost", "plan", "--from", "no-end"}, load...)}, {2, append([]string{"cost", "plan", "--from", "valid"}, load...)}, {2, []string{"cost", "plan"}},
		{2, []string{"run", "no-such-study"}}, {0, []string{"run", "transport=null", "--dry-run"}}, {2, []string{"run", "transport=null", "--gate", "window=never"}},
		{2, []string{"capacity", "no-such-study"}}, {0, []string{"capacity", "null", "--dry-run"}}, {2, []string{"capacity", "null", "rate=5"}},
		{2, []string{"run", "mesh"}}, {2, []string{"cost", "no-such-transport"}}, {2, []string{"tune", "no-such-transport"}}, {2, []string{"tour", "more"}},
		{2, []string{"listen", "bind=nowhere"}}, {2, []string{"serve", "nowhere"}}, {2, []string{"calibrate", "--rig", "nowhere:1"}},
		{0, []string{"studies"}}, {2, []string{"studies", "show", "no-such-study"}}, {0, []string{"transports", "null"}}, {0, []string{"transports", "null", "--json"}}, {2, []string{"transports", "no-such-transport"}},
		{2, []string{"check"}}, {1, []string{"check", "./worker"}}, {2, []string{"doctor", "nowhere.json"}},
		{0, []string{"explain", "loopback"}}, {2, []string{"explain", "no-such-word"}},
	} {
		if got, said := remembering(t, dir, cache, c.args...); got != c.want {
			t.Errorf("netdyno %s: status %d, want %d: %s", strings.Join(c.args, " "), got, c.want, said)
		}
		if c.args[0] != "plan" {
			continue
		}
		if got, said := remembering(t, dir, cache, append(c.args, "--json")...); got != c.want {
			t.Errorf("netdyno %s --json: status %d, want %d: %s", strings.Join(c.args, " "), got, c.want, said)
		}
	}
}
