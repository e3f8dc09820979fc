package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/race"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/synthetic"
)

// Every command has a line in the table, its help says it, and docs/commands.md has it.
func TestEveryCommandHasItsStatuses(t *testing.T) {
	doc, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := root().Commands()
	for _, c := range commands {
		if slices.Contains(workersOwn, c.Name()) {
			continue
		}
		i := slices.IndexFunc(statuses, func(s meanings) bool { return s.command == c.Name() })
		if i < 0 {
			t.Errorf("%s has no line", c.Name())
		} else if !strings.Contains(c.Long, "Exit status:\n  0  "+wrapped(statuses[i].means[0], "     ")) {
			t.Errorf("the help of %s lacks its statuses: %s", c.Name(), c.Long)
		}
	}
	for _, s := range statuses {
		name, _, _ := strings.Cut(s.command, " ")
		if !named(root(), name) {
			t.Errorf("there is no command %s", name)
		}
		row := fmt.Sprintf("| `%s` | %s |", s.command, strings.Join(s.means[:], " | "))
		if row = strings.ReplaceAll(row, "|  |", "| – |"); !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/commands.md lacks the line\n%s", row)
		}
	}
}

// What a run ends with follows from its trials and its answer.
func TestVerdictOfARun(t *testing.T) {
	valid, some := cells.Tally{Planned: 9, Valid: 9}, cells.Tally{Planned: 9, Valid: 5, Failed: 3, Invalid: 1}
	missing := cells.Tally{Planned: 9, Valid: 5, Missing: 4}
	carries := func(arms ...capacity.Arm) *capacity.Capacity { return &capacity.Capacity{Arms: arms} }
	rate := capacity.Arm{Rate: &capacity.Estimate{Value: 1}}
	models := func(reasons ...string) []cost.Cost {
		var c cost.Cost
		for _, why := range reasons {
			c.Models = append(c.Models, cost.Model{Reason: why})
		}
		return []cost.Cost{c}
	}
	of := func(tally cells.Tally, f finding.Findings) finding.Findings {
		f.Tally = tally
		return f
	}
	for name, c := range map[string]struct {
		found finding.Findings
		want  exit
	}{
		"valid":                      {of(valid, finding.Findings{}), statusOK},
		"some failed":                {of(some, finding.Findings{}), statusTainted},
		"none valid":                 {of(cells.Tally{Planned: 9, Failed: 9}, finding.Findings{}), statusRefused},
		"a capacity":                 {of(valid, finding.Findings{Capacity: carries(rate)}), statusOK},
		"at least, and some failed":  {of(some, finding.Findings{Capacity: carries(capacity.Arm{Rate: rate.Rate, AtLeast: true})}), statusOK},
		"meets it at no rate":        {of(valid, finding.Findings{Capacity: carries(capacity.Arm{None: true, Why: "missed"})}), statusOK},
		"undecided":                  {of(valid, finding.Findings{Capacity: carries(rate, capacity.Arm{Why: "contradiction"})}), statusTainted},
		"a capacity, and it stopped": {of(missing, finding.Findings{Capacity: carries(rate)}), statusTainted},
		"a search without a window":  {of(cells.Tally{Planned: 9, Failed: 9}, finding.Findings{Capacity: carries(capacity.Arm{})}), statusRefused},
		"a host is named":            {of(valid, finding.Findings{Mesh: &mesh.Mesh{Outliers: []mesh.Outlier{{Kind: mesh.Lost, Hosts: []string{"node1"}}}}}), statusOK},
		"hosts are alike":            {of(valid, finding.Findings{Mesh: &mesh.Mesh{Hidden: []mesh.Hidden{{Hosts: 1.04}}}}), statusOK},
		"hosts cannot be told":       {of(valid, finding.Findings{Mesh: &mesh.Mesh{Hidden: []mesh.Hidden{{Hosts: 1.04}, {Hosts: 19}}}}), statusTainted},
		"too few hosts":              {of(valid, finding.Findings{Mesh: &mesh.Mesh{Unnamed: "too few"}}), statusTainted},
		"models":                     {of(valid, finding.Findings{Costs: models("", "")}), statusOK},
		"a model is refused":         {of(valid, finding.Findings{Costs: models("", "it misses")}), statusTainted},
		"a setting":                  {of(some, finding.Findings{Race: &race.Race{State: race.Confirmed}}), statusOK},
		"the defaults":               {of(valid, finding.Findings{Race: &race.Race{State: race.Unproven}}), statusOK},
		"no setting keeps the bound": {of(valid, finding.Findings{Race: &race.Race{State: race.Unkept}}), statusTainted},
		"a race that was stopped":    {of(missing, finding.Findings{Race: &race.Race{State: race.Running}}), statusTainted},
	} {
		if got := codeOf(verdict(c.found)); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
	for result, want := range map[compare.GateResult]exit{compare.NoWorse: 0, compare.IsWorse: 1, compare.Unproven: 3} {
		if got := gateStatus[result]; got != want {
			t.Errorf("a gate that is %v: status %d, want %d", result, got, want)
		}
	}
}

// made writes the directory of a run whose records are made up, changed by change.
func made(t *testing.T, dir string, args []string, change func(*record.Header, []record.Trial, []record.Record)) {
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

// fail makes every nth record one of a trial that failed.
func fail(n int) func(*record.Header, []record.Trial, []record.Record) {
	return func(_ *record.Header, _ []record.Trial, records []record.Record) {
		for i := range records {
			if i%n == n-1 {
				records[i] = record.Record{Schema: record.Schema, Trial: records[i].Trial, Outcome: record.Failed, Failure: &record.Failure{Kind: "timeout", Text: "no answer"}}
			}
		}
	}
}

// unseen holds no cell back from the models of these metrics.
func unseen(metrics ...string) func(*record.Header, []record.Trial, []record.Record) {
	return func(h *record.Header, _ []record.Trial, _ []record.Record) {
		for i, c := range h.Study.Costs {
			if slices.Contains(metrics, c.Metric) {
				h.Study.Costs[i].Holdout = nil
			}
		}
	}
}

// Every command, in the states that it can be in, ends with the status of the table, as
// JSON too. What a run ends with is what its report ends with.
func TestCommandsEndWithTheirStatus(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	two := []string{"transport=go-net,go-epoll", "blocks=6"}
	made(t, at("valid"), two, nil)
	made(t, at("worse"), []string{"transport=go-http1,go-grpc,fasthttp,go-connect-http", "blocks=6"}, nil)
	made(t, at("some"), two, fail(5))
	made(t, at("failed"), two, fail(1))
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
		{0, []string{"report", "valid"}}, {1, []string{"report", "some"}}, {2, []string{"report", "failed"}}, {2, []string{"report", "nowhere"}},
		{0, []string{"report", "valid", "--gate"}}, {1, []string{"report", "worse", "--gate"}}, {3, []string{"report", "some", "--gate"}}, {2, []string{"report", "failed", "--gate"}}, {0, []string{"report", "valid", "--trial", "b01-001"}},
		{0, []string{"report", "costs"}}, {1, []string{"report", "one-end"}}, {0, []string{"report", "mesh"}}, {1, []string{"report", "short-mesh"}},
		{0, []string{"export", "valid", "--format", "csv"}}, {2, []string{"export", "nowhere", "--format", "csv"}}, {2, []string{"export", "valid"}},
		{3, []string{"compare", "valid", "valid"}}, {2, []string{"compare", "valid", "nowhere"}},
		{0, append([]string{"plan", "--from", "costs"}, load...)}, {1, append([]string{"plan", "--from", "one-end"}, load...)},
		{1, append([]string{"plan", "--from", "no-end"}, load...)}, {2, append([]string{"plan", "--from", "valid"}, load...)}, {2, []string{"plan"}},
		{2, []string{"run", "no-such-study"}}, {0, []string{"run", "transport=null", "--dry-run"}}, {2, []string{"run", "transport=null", "--gate", "window=never"}},
		{2, []string{"capacity", "no-such-study"}}, {0, []string{"capacity", "null", "--dry-run"}}, {2, []string{"capacity", "null", "rate=5"}},
		{2, []string{"mesh"}}, {2, []string{"cost", "no-such-transport"}}, {2, []string{"tune", "no-such-transport"}}, {2, []string{"tour", "more"}},
		{2, []string{"listen", "bind=nowhere"}}, {2, []string{"serve", "nowhere"}}, {2, []string{"calibrate", "--rig", "nowhere:1"}},
		{0, []string{"studies"}}, {2, []string{"studies", "show", "no-such-study"}}, {0, []string{"transports", "null"}}, {0, []string{"transports", "null", "--json"}}, {2, []string{"transports", "no-such-transport"}},
		{2, []string{"check"}}, {1, []string{"check", "./worker"}}, {0, []string{"facts"}}, {2, []string{"facts", "more"}}, {2, []string{"doctor", "nowhere.json"}},
		{0, []string{"explain", "loopback"}}, {2, []string{"explain", "no-such-word"}}, {0, []string{"version"}}, {2, []string{"version", "more"}},
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
