package mesh_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/programs"
	"netdyno/test/synthetic"
)

// A mesh of 1,024 hosts, as no machine here has: planned as it would be, with records that
// were never run, one host gone. The records take less than a gigabyte, and a report less
// than a gigabyte of memory.
func TestAMeshOf1024Hosts(t *testing.T) {
	if os.Getenv("NETDYNO_SOAK") == "" {
		t.Skip("minutes; make soak runs it")
	}
	const hosts, gone, gigabyte = 1024, "node500", 1 << 30
	s, err := source.ParseArgs([]string{"mesh"}, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, hosts)
	for i := range names {
		names[i] = fmt.Sprintf("node%d", i+1)
	}
	if s, err = s.OnHosts(names); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	trials, warnings, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d trials planned in %s, warned %v", len(trials), time.Since(begun), warnings)
	dir := t.TempDir()
	size := written(t, dir, study.Summary(s), trials, gone)
	t.Logf("records of %d bytes, %d a trial", size, size/int64(len(trials)))
	if size > gigabyte {
		t.Errorf("the records take %d bytes", size)
	}
	report := exec.Command(programs.Path(t, "netdyno"), "report", "--full", dir)
	begun = time.Now()
	text, err := report.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{"lost " + gone, "Each host met 16 of the 1023 others", "A host is named with a probability of 95"} {
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	rss := report.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("reported in %s with %d MB", time.Since(begun), rss>>20)
	if rss > 2*gigabyte {
		t.Errorf("a report takes %d MB", rss>>20)
	}
}

// written leaves the files of a run in a directory, and returns the size of its records.
func written(t *testing.T, dir string, of record.Study, trials []record.Trial, gone string) int64 {
	t.Helper()
	if err := record.WriteTrials(filepath.Join(dir, record.TrialsFile), trials); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, record.RecordsFile)
	var file *record.File
	for some := range slices.Chunk(trials, 1<<10) {
		header, records, err := synthetic.Planned(of, some)
		if err != nil {
			t.Fatal(err)
		}
		if file == nil {
			if file, err = record.Create(path, header); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range records {
			if r.Trial.Levels[study.ServerHost] == gone || r.Trial.Levels[study.ClientHost] == gone {
				r = record.Record{Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Failed, Failure: &record.Failure{Kind: contract.Timeout, Text: "no answer", State: "starting"}}
			}
			if err := file.Append(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
