package session

import (
	"os"
	"path/filepath"
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

// Recorded traffic lies in the run's directory, so that the run goes on when the file is
// gone, or the log has grown; a copy that was changed is named.
func TestRecordedTrafficGoesWithItsRun(t *testing.T) {
	log := strings.Repeat(`127.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET /a HTTP/1.1" 200 20 "-" "-"`+"\n"+
		`127.0.0.1 - - [01/Jan/2026:00:00:02 +0000] "GET /b HTTP/1.1" 200 30 "-" "-"`+"\n", 20)
	for name, c := range map[string]struct{ file, text, level string }{
		"times": {"times.txt", "0\n0.5\n1\n1.5\n", "arrival=trace:times.txt"},
		"a log": {"access.log", log, "workload=access.log"},
	} {
		t.Run(name, func(t *testing.T) {
			workplace(t)
			written(t, c.file, c.text)
			s, run := opened(t, request("run", c.level, "blocks=2"))
			if err := run.file.Close(); err != nil {
				t.Fatal(err)
			}
			var kept string
			for level, one := range s.workloads.all {
				kept = filepath.Join("run", "given", one.Given)
				work, err := s.workloads.enter(study.Work{Workload: map[bool]string{true: level}[level == c.file], Times: map[bool]string{true: level}[level != c.file], Window: 1e9}, 1)
				if there, _ := filepath.Abs(kept); err != nil || one.Given == "" || work.Load.Trace.File != there {
					t.Errorf("trials replay %+v, want %s, %v", work.Load.Trace, there, err)
				}
			}
			if err := os.Remove(c.file); err != nil {
				t.Fatal(err)
			}
			for _, grown := range []string{"", c.text + "2\n"} {
				if grown != "" {
					written(t, c.file, grown)
				}
				_, again := opened(t, goesOn(t, "run"))
				if len(again.Left) != len(run.Left) {
					t.Errorf("%d trials are left, want %d", len(again.Left), len(run.Left))
				}
				if err := again.file.Close(); err != nil {
					t.Fatal(err)
				}
			}
			written(t, kept, "other")
			if said := refused(t, goesOn(t, "run")); !strings.Contains(said, "is not what the run began with: it is damaged") {
				t.Errorf("a changed copy: %s", said)
			}
		})
	}
}

// A workload file that is gone is as the run wrote it down; one that changed is refused.
func TestAWorkloadFileGoesWithItsRun(t *testing.T) {
	workplace(t)
	const classes = "classes: [{name: a, request: 10B, response: 10B}]"
	written(t, "w.yaml", classes)
	_, run := opened(t, request("run", "workload=w.yaml", "blocks=2"))
	if err := run.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("w.yaml"); err != nil {
		t.Fatal(err)
	}
	_, again := opened(t, goesOn(t, "run"))
	if err := again.file.Close(); err != nil {
		t.Fatal(err)
	}
	written(t, "w.yaml", strings.ReplaceAll(classes, "10B", "20B"))
	if said := refused(t, goesOn(t, "run")); !strings.Contains(said, "is not what the run began with") {
		t.Errorf("another workload: %s", said)
	}
}

// What is too large to be copied is said.
func TestRecordedTrafficThatIsTooLargeIsSaid(t *testing.T) {
	name := written(t, filepath.Join(t.TempDir(), "x.rec"), strings.Repeat("x", 100))
	w := workloads{most: 99, all: map[string]workload.Workload{"x.rec": {TraceFile: name}}}
	w.bounded("x.rec", w.all["x.rec"])
	if len(w.warnings) != 1 || w.warnings[0].Text != "x.rec has 100 B and is not copied into the run's directory, which takes at most 99 B" {
		t.Errorf("warnings %+v", w.warnings)
	}
	dir := Directory(t.TempDir())
	if err := w.keep(dir, false); err != nil || w.all["x.rec"].Given != "" || w.all["x.rec"].TraceFile != name {
		t.Errorf("%+v, %v", w.all, err)
	}
	if w.most = 100; w.keep(dir, true) != nil || w.all["x.rec"].Given == "" || w.all["x.rec"].TraceFile != name {
		t.Errorf("where files are brought to hosts: %+v", w.all)
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
	written(t, "times.txt", "0\n0.01\n0.02\n0.03\n")
	run := measured(t, request("run", "arrival=trace:times.txt", "blocks=1"))
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
