package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// withLooks is a study of the looks 6, 8 and 10 with records of its first blocks.
func withLooks(o synthetic.Options, blocks int) (record.Header, []record.Trial, []record.Record) {
	o.Bare, o.Connections, o.Rate, o.Blocks = true, []int{50}, 20000, 10
	if o.Primary == nil {
		o.Primary = []string{serverCPU}
	}
	h, trials, records := synthetic.Run(o)
	h.Study.OwnLooks = []int{6, 8, 10}
	records = slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Block > blocks })
	return h, trials, records
}

var (
	apart  = []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 1.5}}
	nearly = []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 1.02}} // on the margin: nothing settles it
)

func TestALookSettlesWhatIsClear(t *testing.T) {
	h, trials, records := withLooks(synthetic.Options{Arms: apart, SD: 0.01, Seed: 1}, 10)
	look, err := compare.Look(h, trials, records, 1)
	if err != nil || !look.Settled || look.Blocks != 6 || look.Done != 6 || look.Level != 1./32 {
		t.Errorf("look at a clear difference: %+v, %v", look, err)
	}
	h, trials, records = withLooks(synthetic.Options{Arms: nearly, SD: 0.02, Seed: 1}, 10)
	if look, err = compare.Look(h, trials, records, 1); err != nil || look.Settled {
		t.Errorf("look at a difference of the margin: %+v, %v", look, err)
	}
	if _, err = compare.Look(h, trials, records, 4); err == nil {
		t.Error("a fourth look of three")
	}
}

// A look has no more than its own blocks, whatever the file holds by then.
func TestALookSeesItsOwnBlocks(t *testing.T) {
	h, trials, records := withLooks(synthetic.Options{Arms: apart, SD: 0.05, Seed: 2}, 6)
	early, err := compare.Look(h, trials, records, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, _, records = withLooks(synthetic.Options{Arms: apart, SD: 0.05, Seed: 2}, 10)
	if late, err := compare.Look(h, trials, records, 1); err != nil || late != early {
		t.Errorf("by the first 6 blocks %+v, by the first 6 of 10 %+v, %v", early, late, err)
	}
	_, _, records = withLooks(synthetic.Options{Arms: apart, SD: 0.05, Seed: 2}, 5)
	if look, err := compare.Look(h, trials, records, 1); err != nil || look.Settled {
		t.Errorf("settled without the last block: %+v, %v", look, err)
	}
}

// What a run is judged by follows from where it is: where it stopped, at a
// look, between two, at the end.
func TestRunsAreJudgedAtTheirLook(t *testing.T) {
	levels := stat.LookLevels([]int{6, 8, 10}, 10, cells.Level)
	for _, c := range []struct {
		name    string
		blocks  int
		stopped *record.Stop
		level   float64
		says    string
		missing int
		skipped int
	}{
		{"stopped early", 6, &record.Stop{Look: 1, Blocks: 6}, levels[0], "stopped after 6 rounds: everything is settled", 0, 12},
		{"at a look", 6, nil, levels[0], "after 6 rounds everything is settled", 12, 0},
		{"between looks", 7, nil, levels[1], "interrupted after 7 rounds: judged by these", 9, 0},
		{"to the end", 10, nil, levels[2], "after 10 rounds everything is settled", 0, 0},
		{"a stop at no look", 10, &record.Stop{Look: 1, Blocks: 7}, levels[2], "after 10 rounds", 0, 0},
	} {
		h, trials, records := withLooks(synthetic.Options{Arms: apart, SD: 0.01, Seed: 1}, c.blocks)
		h.Stopped = c.stopped
		f := find(t, h, trials, records)
		got := f.Comparisons[0]
		if f.Look == nil || got.Level != c.level || !strings.HasPrefix(f.Look.Sentence, c.says) {
			t.Errorf("%s: level %v, want %v; %+v", c.name, got.Level, c.level, f.Look)
		}
		if f.Tally.Missing != c.missing || f.Tally.Skipped != c.skipped || f.Tally.Planned != 30-c.skipped {
			t.Errorf("%s: %+v, want %d missing and %d skipped", c.name, f.Tally, c.missing, c.skipped)
		}
		want := compare.Worse
		if c.blocks == 7 {
			want = compare.CannotTell // they cannot reach what 8 have of the level
		}
		if got.Verdict != want || !strings.Contains(got.Sentence, map[float64]string{levels[0]: "(96.9 % interval", levels[1]: "(99.1 % interval"}[c.level]) {
			t.Errorf("%s: %s: %s", c.name, got.Verdict, got.Sentence)
		}
	}
}

// With one look nothing changes: the level, the interval, the words.
func TestOneLookIsTheWholeLevel(t *testing.T) {
	h, trials, records := withLooks(synthetic.Options{Arms: apart, SD: 0.01, Seed: 1}, 10)
	for _, looks := range [][]int{nil, {10}, {10, 6}, {-1, 3}} { // the latter of a damaged header
		h.Study.OwnLooks = looks
		f := find(t, h, trials, records)
		if f.Look != nil || f.Comparisons[0].Level != cells.Level || !strings.Contains(f.Comparisons[0].Sentence, "(95 % interval") {
			t.Errorf("looks %v: %+v, %s", looks, f.Look, f.Comparisons[0].Sentence)
		}
	}
}

// An arm that cannot run will not run in later blocks either: it keeps no run
// from stopping. One that merely failed might.
func TestWhatCannotBeHelpedIsSettled(t *testing.T) {
	for outcome, want := range map[record.Outcome]bool{record.Unsupported: true, record.Failed: false} {
		h, trials, records := withLooks(synthetic.Options{Arms: append(slices.Clone(apart), synthetic.Arm{Name: "c"}), SD: 0.01, Seed: 1}, 6)
		for i := range records {
			if records[i].Trial.Arm == "c" {
				records[i].Outcome, records[i].Failure = outcome, &record.Failure{Kind: "unsupported", Text: "no such library"}
			}
		}
		if look, err := compare.Look(h, trials, records, 1); err != nil || look.Settled != want {
			t.Errorf("%s: %+v, %v", outcome, look, err)
		}
	}
}
