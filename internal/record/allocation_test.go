package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// steeredPlan has two arms in each of three blocks, and a probe.
func steeredPlan() []Trial {
	var plan []Trial
	for _, id := range []string{"b01-001", "b01-002", "b02-001", "b02-002", "b03-001", "b03-002"} {
		plan = append(plan, Trial{ID: id, Block: int(id[2] - '0'), Levels: map[string]string{"rate": "1000/s"}})
	}
	return append(plan, Trial{ID: "b04-001", Block: 4, Probe: true})
}

func TestAllocated(t *testing.T) {
	plan := steeredPlan()
	if got := Allocated(plan, nil); len(got) != len(plan) || &got[0] != &plan[0] {
		t.Error("without a decision the plan is not the plan itself")
	}
	run := Allocated(plan, []Allocation{
		{Block: 1, Levels: map[string]map[string]string{"b01-002": {"rate": "2000/s"}, "b02-001": {"rate": "9/s"}}},
		{Block: 2, Left: []string{"b02-002"}},
		{Block: 3, Ended: true},
	})
	if got := ids(recordsOf(run)); got != "b01-001 b01-002 b02-001 b04-001" {
		t.Errorf("runs %s", got)
	}
	for i, want := range []string{"1000/s", "2000/s", "1000/s"} { // a block's decision is about that block
		if got := run[i].Levels["rate"]; got != want {
			t.Errorf("trial %s at rate %s, want %s", run[i].ID, got, want)
		}
	}
	if got := plan[1].Levels["rate"]; got != "1000/s" {
		t.Errorf("the plan itself became %s", got)
	}
}

func recordsOf(trials []Trial) []Record {
	records := make([]Record, len(trials))
	for i, t := range trials {
		records[i].Trial = t
	}
	return records
}

// Decisions are read back with the records that follow them, whole and while the file
// grows, and a block is decided once.
func TestAllocationsAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	w, err := Create(path, Header{CreatedAt: time.Unix(1, 0), Study: Study{Name: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	plan := steeredPlan()
	first := Allocation{Block: 1, Levels: map[string]map[string]string{"b01-001": {"rate": "500/s"}}, Left: []string{"b01-002"}}
	for _, step := range []func() error{
		func() error { return w.Allocate(first) },
		func() error { return w.Append(Record{Trial: Allocated(plan, []Allocation{first})[0]}) },
		func() error { return w.Allocate(Allocation{Block: 1, Ended: true}) }, // decided already
		func() error { return w.Allocate(Allocation{Block: 2, Ended: true, Why: "all is known"}) },
		w.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	run := Allocated(plan, c.Header.Allocations)
	if got := ids(recordsOf(run)); got != "b01-001 b04-001" {
		t.Errorf("runs %s by %+v", got, c.Header.Allocations)
	}
	if left := c.HoldTo(run); left != 0 || len(c.Problems) != 1 || !strings.Contains(c.Problems[0].String(), "block 1 was decided before") {
		t.Errorf("%d records are not the plan's; problems %v", left, c.Problems)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tail Tail
	for size := range len(whole) + 1 {
		if size > 0 && size < len(whole) && whole[size-1] != '\n' {
			continue
		}
		if err := tail.Read(bytes.NewReader(whole[:size]), int64(size)); err != nil && size > 0 {
			t.Fatal(err)
		}
		if _, left := tail.HoldTo(plan); left != 0 {
			t.Errorf("after %d bytes %d records are not the plan's: %v", size, left, tail.Problems)
		}
	}
	if got, _ := tail.HoldTo(plan); ids(recordsOf(got)) != ids(recordsOf(run)) || len(tail.Records) != 1 {
		t.Errorf("followed: runs %s with %d records", ids(recordsOf(got)), len(tail.Records))
	}
}
