package session

import (
	"os"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A run goes on by the workload that it began with alone: a file that changed is refused.
func TestAChangedWorkloadIsRefused(t *testing.T) {
	const log = `127.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET /a HTTP/1.1" 200 20 "-" "-"` + "\n" +
		`127.0.0.1 - - [01/Jan/2026:00:00:02 +0000] "GET /b HTTP/1.1" 200 30 "-" "-"` + "\n"
	const classes = "classes: [{name: a, request: 10B, response: 10B}]"
	for name, c := range map[string]struct{ file, text, changed, level string }{
		"a workload file": {"w.yaml", classes, strings.ReplaceAll(classes, "10B", "20B"), "workload=w.yaml"},
		"a log":           {"access.log", strings.Repeat(log, 20), strings.Repeat(log, 21), "workload=access.log"},
		"its times":       {"access.log", strings.Repeat(log, 20), strings.Repeat(log, 21), "arrival=trace:access.log"},
	} {
		t.Run(name, func(t *testing.T) {
			workplace(t)
			written(t, c.file, c.text)
			_, run := opened(t, request("run", c.level, "blocks=2"))
			if err := run.file.Close(); err != nil {
				t.Fatal(err)
			}
			_, again := opened(t, goesOn(t, "run"))
			if err := again.file.Close(); err != nil || len(again.Left) != len(run.Left) {
				t.Fatalf("%d trials are left, want %d, %v", len(again.Left), len(run.Left), err)
			}
			written(t, c.file, c.changed)
			if said := refused(t, goesOn(t, "run")); !strings.Contains(said, "is not what the run began with") {
				t.Errorf("another workload: %s", said)
			}
		})
	}
}

// Classes that pause make the load pause in the mean, in a closed loop alone.
func TestPausesOfClasses(t *testing.T) {
	w := workloads{all: map[string]workload.Workload{"w": {Classes: []contract.Class{
		{Name: "a", End: 3 * contract.TableEnd / 4, DownBytes: 1, ThinkNs: 4000}, {Name: "b", End: contract.TableEnd, DownBytes: 2},
	}}}}
	work, err := w.enter(study.Work{Workload: "w"}, 1)
	if err != nil || work.Load.ThinkNs != 3000 {
		t.Errorf("pauses of %d ns, %v", work.Load.ThinkNs, err)
	}
	for want, load := range map[string]contract.Load{
		"workload=w: class a has think, and an open loop follows its schedule": {Rate: 5},
		"workload=w: class a has think, and so has the study":                  {ThinkNs: 5},
	} {
		if _, err := w.enter(study.Work{Workload: "w", Load: load}, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A body that a file holds is as long as the file; one that is not there is named by its place.
func TestBodiesOfFilesHaveTheirSizes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	written(t, "sub/order.json", strings.Repeat("x", 77))
	written(t, "sub/w.yaml", "classes: [{name: a, body: '@order.json'}]")
	w := workloads{}
	of, err := w.read(t.Context(), "sub/w.yaml")
	if err != nil || of.Classes[0].UpBytes != 77 {
		t.Errorf("%+v, %v", of.Classes, err)
	}
	written(t, "w.yaml", "classes: [{name: a, body: '@order.json'}]")
	if _, err := w.read(t.Context(), "w.yaml"); err == nil || !strings.HasPrefix(err.Error(), "w.yaml:1:27: body: ") {
		t.Errorf("an absent body: %v", err)
	}
}

// Trials follow the times of a file: their clients are told a trace, and an open loop's rate.
func TestTrialsFollowTheTimesOfAFile(t *testing.T) {
	workplace(t)
	written(t, "times.jsonl", `{"time":1.00,"class":"due"}`+"\n"+`{"time":1.01,"class":"due"}`+"\n"+`{"time":1.02,"class":"due"}`+"\n"+`{"time":1.03,"class":"due"}`+"\n")
	run := measured(t, request("run", "arrival=trace:times.jsonl", "blocks=1"))
	contents, err := record.Read(run.Dir.Records())
	if err != nil || len(contents.Records) == 0 {
		t.Fatalf("%d records, %v", len(contents.Records), err)
	}
	for _, r := range contents.Records {
		for _, w := range r.Workers {
			if w.Setup == nil || w.Setup.Load.Trace == nil || !w.Setup.Load.Trace.Times || w.Setup.Load.Rate < 90 || w.Setup.Load.Rate > 140 {
				t.Errorf("trial %s, %s: %+v", r.Trial.ID, w.Name, w.Setup)
			}
		}
	}
}
