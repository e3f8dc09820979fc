package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
)

// request asks for a short study over the scripted worker.
func request(out string, args ...string) Request {
	levels := []string{"transport=" + scripted, "connections=1", "window=10ms", "warmup=1ms"}
	return Request{Args: append(levels, args...), Rig: rig.LoopbackName, Out: Directory(out), Version: "test"}
}

// goesOn is the request of --continue.
func goesOn(t *testing.T, out string) Request {
	t.Helper()
	r, err := Begun(Directory(out))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// looking is a judge that finds everything settled at some looks.
func looking(settled ...int) Judge {
	return Judge{Look: func(_ record.Header, _ []record.Trial, _ []record.Record, look int) (bool, string, error) {
		return slices.Contains(settled, look), "looked", nil
	}}
}

// opened prepares a session and opens its run; both are closed with the test.
func opened(t *testing.T, r Request) (*Session, *Run) {
	t.Helper()
	s, err := Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	run, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s, run
}

// refused returns why a request cannot be prepared or opened.
func refused(t *testing.T, r Request) string {
	t.Helper()
	s, err := Prepare(t.Context(), r)
	if err == nil {
		_, err = s.Open()
		if closed := s.Close(); closed != nil {
			t.Error(closed)
		}
	}
	if err == nil {
		t.Fatal("the request was not refused")
	}
	return err.Error()
}

// measured runs a request to its end.
func measured(t *testing.T, r Request) *Run {
	t.Helper()
	_, run := opened(t, r)
	if err := run.Measure(t.Context(), Observer{}); err != nil {
		t.Fatal(err)
	}
	return run
}

// recorded reads a run's file, and demands one record for each of so many trials.
func recordedIn(t *testing.T, d Directory, trials int) record.Contents {
	t.Helper()
	contents, err := record.Read(d.Records())
	if err != nil || len(contents.Problems) > 0 {
		t.Fatalf("read records: %v %v", err, contents.Problems)
	}
	seen := map[string]bool{}
	for _, r := range contents.Records {
		if r.Outcome != record.OK {
			t.Errorf("trial %s is %s: %+v", r.Trial.ID, r.Outcome, r.Failure)
		}
		seen[r.Trial.ID] = true
	}
	if len(seen) != trials || len(contents.Records) != trials {
		t.Errorf("%d records of %d trials, want one of each of %d", len(contents.Records), len(seen), trials)
	}
	return contents
}

func TestARunFromBeginToEnd(t *testing.T) {
	workplace(t)
	held := 0
	r := request("run", "blocks=2")
	r.Hold = func() { held++ }
	r.Judge.Calibration = func(record.Facts) (*record.Calibration, error) { return nil, errors.New("it is damaged") }
	s, run := opened(t, r)
	if held != 1 || s.Hosts() != 1 || len(s.Placements()) != 1 || s.Estimate(s.Trials).Total <= 0 {
		t.Errorf("held %d times, %d hosts, placements %v, estimate %v", held, s.Hosts(), s.Placements(), s.Estimate(s.Trials))
	}
	if !slices.ContainsFunc(s.Warnings, func(w record.Warning) bool { return w.Text == "it is damaged" }) {
		t.Errorf("no warning of the damaged calibration: %v", s.Warnings)
	}
	for _, file := range []string{run.Dir.Study(), run.Dir.Facts(), run.Dir.Trials(), run.Dir.Records()} {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("before the first trial: %v", err)
		}
	}
	ended := 0
	err := run.Measure(t.Context(), Observer{Trial: func(e bench.Event) {
		if e.Record != nil {
			ended++
		}
	}})
	if err != nil || ended != len(run.Left) || ended != 4 {
		t.Errorf("%v after %d of %d trials, want 4", err, ended, len(run.Left))
	}
	contents := recordedIn(t, "run", 4)
	if len(contents.Header.Facts.After) != 1 || contents.Header.Netdyno != "test" {
		t.Errorf("facts afterwards %v, version %q", contents.Header.Facts.After, contents.Header.Netdyno)
	}
	if err := Directory("run").Vacant(); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("the directory is vacant: %v", err)
	}
}

func TestAStoppedRunResumes(t *testing.T) {
	workplace(t)
	r := request("run", "blocks=2")
	_, run := opened(t, r)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := 0
	err := run.Measure(ctx, Observer{Trial: func(e bench.Event) {
		if e.Record == nil {
			return
		}
		if ended++; ended == 3 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v, want %v", err, context.Canceled)
	}
	before := recordedIn(t, "run", 3)
	r.Resume = true
	if left := measured(t, r).Left; len(left) != 1 || left[0].ID != "b02-002" {
		t.Errorf("left are %v, want the last trial", left)
	}
	if after := recordedIn(t, "run", 4); after.Records[0].StartedAt != before.Records[0].StartedAt {
		t.Error("a record that was there has changed")
	}
	if left := measured(t, r).Left; len(left) != 0 {
		t.Errorf("of a complete run %d trials are left", len(left))
	}
}

// Without a directory a run is resumed that is the latest of its study.
func TestTheLatestRunResumes(t *testing.T) {
	workplace(t)
	first := measured(t, request("", "blocks=1"))
	r := request("", "blocks=1")
	r.Resume = true
	if _, run := opened(t, r); run.Dir != first.Dir {
		t.Errorf("resumed %s, want %s", run.Dir, first.Dir)
	} else if err := run.Measure(t.Context(), Observer{}); err != nil {
		t.Error(err)
	}
	r = request("", "blocks=1", "study=another")
	r.Resume = true
	if why := refused(t, r); !strings.Contains(why, "no run of another under results/") {
		t.Error(why)
	}
}

func TestLooksEndARun(t *testing.T) {
	workplace(t)
	r := request("settled")
	r.Judge = looking(2)
	_, run := opened(t, r)
	var words []string
	if err := run.Measure(t.Context(), Observer{Look: func(w string) { words = append(words, w) }}); err != nil {
		t.Fatal(err)
	}
	if contents := recordedIn(t, "settled", 32); contents.Header.Stopped == nil || *contents.Header.Stopped != (record.Stop{Look: 2, Blocks: 16}) || len(words) != 2 {
		t.Errorf("stopped at %+v after the looks %q, want at the second look of two", contents.Header.Stopped, words)
	}
	r.Resume = true
	if run := measured(t, r); run.Stopped == nil || len(run.Left) != 0 {
		t.Errorf("resumed it stopped at %v with %d trials left, want none", run.Stopped, len(run.Left))
	}
	if why := refused(t, goesOn(t, "settled")); !strings.Contains(why, "everything that settled asks was settled after 16 blocks") {
		t.Error(why)
	}

	open := request("open")
	open.Judge = looking()
	if run := measured(t, open); run.Stopped != nil {
		t.Errorf("it stopped at %v, though nothing is settled", run.Stopped)
	}
	recordedIn(t, "open", 64)

	failing := request("failing")
	failing.Judge.Look = func(record.Header, []record.Trial, []record.Record, int) (bool, string, error) {
		return false, "", errors.New("unreadable")
	}
	_, run = opened(t, failing)
	if err := run.Measure(t.Context(), Observer{}); err == nil || !strings.Contains(err.Error(), "unreadable") {
		t.Errorf("a look that fails: %v", err)
	}
	recordedIn(t, "failing", 16)
}

func TestContinue(t *testing.T) {
	workplace(t)
	measured(t, request("run", "inflight=1,2", "blocks=2"))
	begun := 2
	for _, further := range []int{8} {
		r := goesOn(t, "run")
		r.Judge = looking()
		run := measured(t, r)
		if run.Further != further || len(run.Left) != 3*(further-begun) {
			t.Errorf("goes on to %d blocks with %d trials, want %d", run.Further, len(run.Left), further)
		}
		recordedIn(t, "run", 3*further)
		begun = further
	}
	last := goesOn(t, "run")
	last.Judge = looking()
	if why := refused(t, last); !strings.Contains(why, "run had 2 looks, and has taken the last") {
		t.Error(why)
	}
	measured(t, request("fixed", "blocks=1"))
	if why := refused(t, goesOn(t, "fixed")); !strings.Contains(why, "fixed has done its 1 block, and further ones were not declared") {
		t.Error(why)
	}
	if _, err := Begun("nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere is not the directory of a run") {
		t.Error(err)
	}
}

func TestResumeRefuses(t *testing.T) {
	worker := workplace(t)
	measured(t, request("run", "inflight=1,2", "blocks=2"))
	again := func(out string, args ...string) Request {
		r := request(out, args...)
		r.Resume = true
		return r
	}
	for _, c := range []struct {
		request Request
		want    string
	}{
		{again("run", "inflight=1,2", "blocks=4"), "was declared with the looks 2, 8, this command has 4, 16"},
		{again("run", "inflight=1,2", "blocks=2", "seed=7"), "the plan in run/trials.jsonl differs from this command's"},
		{again("run", "inflight=1,2", "blocks=2", "require=service_p50_us of 1 <= 1s"), "the run began with other requirements"},
		{again("nowhere", "blocks=1"), "nowhere holds no run that has begun"},
	} {
		if why := refused(t, c.request); !strings.Contains(why, c.want) {
			t.Errorf("%v: %s; want %q", c.request.Args, why, c.want)
		}
	}
	text, err := os.ReadFile(worker)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(worker, append(text, "# another build\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	if why := refused(t, again("run", "inflight=1,2", "blocks=2")); !strings.Contains(why, "is not the program that the run began with") {
		t.Error(why)
	}
	recordedIn(t, "run", 6)
}

// What cannot run is refused before anything is made.
func TestPrepareRefuses(t *testing.T) {
	workplace(t)
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	here := request(".", "blocks=1")
	dry := request(".", "blocks=1")
	dry.DryRun = true
	elsewhere := request("run", "blocks=1")
	elsewhere.Rig = "elsewhere"
	for _, c := range []struct {
		request Request
		want    string
	}{
		{here, "is not empty, it holds bin, file"},
		{elsewhere, `unknown kind "elsewhere"`},
		{request("run", "blocks=1", "server=nobody"), "transport contradicts server"},
		{request("run", "blocks=1", "opt.unheard=1"), "option unheard"},
		{request("run", "blocks=1", "link.rate=1Gbit"), "cannot shape a link"},
		{Request{Args: []string{"event-loops"}, Rig: rig.LoopbackName, Out: "run"}, "no worker here has it"},
	} {
		c.request.Hold = func() {}
		if why := refused(t, c.request); !strings.Contains(why, c.want) {
			t.Errorf("%v: %s; want %q", c.request.Args, why, c.want)
		}
	}
	if s, err := Prepare(t.Context(), dry); err != nil {
		t.Errorf("a dry run writes nothing and is refused: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("run"); !os.IsNotExist(err) {
		t.Errorf("a refused run left a directory: %v", err)
	}
}

func TestSurvey(t *testing.T) {
	workplace(t)
	held := false
	hosts, err := Survey(t.Context(), rig.LoopbackName, func() { held = true })
	if err != nil || len(hosts) != 1 || hosts[0].Facts.Values["host.name"] != "here" || !held {
		t.Errorf("hosts %v, %v, held %v; want this one", hosts, err, held)
	}
}

// A look is shown every record so far once, though each reads on from the last.
func TestALookSeesAllRecordsSoFar(t *testing.T) {
	workplace(t)
	var seen []int
	r := request("run")
	r.Judge = Judge{Look: func(h record.Header, _ []record.Trial, records []record.Record, _ int) (bool, string, error) {
		if h.Directory != "run" {
			t.Errorf("the look's directory is %q, want run", h.Directory)
		}
		seen = append(seen, len(records))
		return false, "looked", nil
	}}
	measured(t, r)
	if !slices.Equal(seen, []int{16, 32}) {
		t.Errorf("looks saw %v records, want 16 and 32", seen)
	}
}

// A run that could not begin leaves its directory as it was, so that the same command can be
// given again.
func TestADiskThatIsFullBeforeTheRun(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("a full disk cannot be made here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) }) // of the test's own
	dir := Directory(filepath.Join(disk, "run"))
	trials := make([]record.Trial, 1000)
	if _, err := dir.Create(nil, record.Header{}, trials); !errors.Is(err, unix.ENOSPC) || strings.Contains(err.Error(), "/.") {
		t.Fatalf("%v; want that the disk is full, by the name of the file", err)
	}
	if err := dir.Vacant(); err != nil {
		t.Error(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=16M"); err != nil {
		t.Fatal(err)
	}
	file, err := dir.Create(nil, record.Header{}, trials)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}
