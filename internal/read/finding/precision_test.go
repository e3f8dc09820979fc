package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// alone is a study of one arm that ends when its rate is known within 5 %.
func alone(sd float64, blocks int) (record.Header, []record.Trial, []record.Record) {
	h, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Bare: true, Connections: []int{1, 50}, Blocks: 5, SD: sd, Seed: 1})
	h.Study.OwnLooks, h.Study.Blocks, h.Study.Settle = []int{3, 5}, 5, 0.05
	return h, trials, slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Block > blocks })
}

// A run that cannot settle ends when the time after its first block is over, by the times
// in its records: reading the records again finds the same end.
func TestARunThatCannotSettleEndsInItsTime(t *testing.T) {
	for _, c := range []struct {
		trial float64 // seconds that each of a block's two trials takes
		look  int     // at which it ends, of looks after every block
	}{{0.5, 16}, {1.4, 11}, {2.5, 7}, {7, 3}, {14, 2}, {40, 1}} {
		h, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Bare: true, Connections: []int{1, 50}, Blocks: 16, SD: 0.5, Seed: 1})
		h.Study.Settle, h.Study.SettleS, h.Study.Blocks = 0.001, 30, 16
		for block := range 16 {
			h.Study.OwnLooks = append(h.Study.OwnLooks, block+1)
		}
		trials = slices.DeleteFunc(trials, func(t record.Trial) bool { return t.Repeat })
		records = slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Repeat })
		for i := range records {
			records[i].Timeline.EndNs = int64(c.trial * 1e9)
		}
		ended := 16
		for look := 1; look < 16; look++ {
			at, err := compare.Look(h, trials, records, look)
			if err != nil {
				t.Fatal(err)
			}
			if at.Settled {
				ended = look
				if !at.TimeUp || !strings.Contains(at.Sentence, "rates known ") {
					t.Errorf("trials of %v s: %+v", c.trial, at)
				}
				break
			}
		}
		if after := float64(ended-1) * 2 * c.trial; ended != c.look || after > 30 {
			t.Errorf("trials of %v s: it ends after %d blocks, %v s after the first; want %d", c.trial, ended, after, c.look)
		}
		if ended == 16 {
			continue
		}
		h.Stopped = &record.Stop{Look: ended, Blocks: ended}
		f, err := finding.Find(h, trials, slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Block > ended }))
		if err != nil || !f.Look.TimeUp || !strings.HasPrefix(f.Look.Sentence, "time over after ") {
			t.Errorf("read again: %+v, %v", f.Look, err)
		}
	}
}

func TestOneArmSettlesByItsPrecision(t *testing.T) {
	for _, c := range []struct {
		sd      float64
		blocks  int
		settled bool
		says    string
	}{
		{0.001, 3, true, "every rate is known within ±5 % after 3 rounds"},
		{0.5, 3, false, "after 3 rounds, 0 of 2 rates are known within ±5 %"},
		{0.001, 2, false, "after 2 rounds, 0 of 2 rates are known within ±5 %"},
	} {
		h, trials, records := alone(c.sd, c.blocks)
		look, err := compare.Look(h, trials, records, 1)
		if err != nil || look.Settled != c.settled || !strings.Contains(look.Sentence, c.says) {
			t.Errorf("scatter %v, %d blocks: %+v, %v", c.sd, c.blocks, look, err)
		}
	}
	h, trials, records := alone(0.5, 5)
	f, err := finding.Find(h, trials, records)
	if err != nil || f.Look == nil || f.Look.Settled || !strings.HasPrefix(f.Look.Sentence, "after all 5 rounds, 0 of 2") {
		t.Errorf("after the last look: %+v, %v", f.Look, err)
	}
}

// A run of several arms that cannot settle ends when the time after its first block is
// over, judged as at any look there; a run that settles ends at the same look as without
// a time.
func TestSeveralArmsEndInTheirTime(t *testing.T) {
	for _, c := range []struct {
		trial   float64 // seconds that each of a block's three trials takes
		speed   float64 // of the second arm
		look    int     // at which it ends, of those after 2, 6, 8 and 16 blocks
		timeUp  bool
		mention string
	}{
		{0.5, 1.02, 4, false, ""},
		{1.3, 1.02, 3, true, "time over after 8 rounds: rates known to ±"},
		{1.5, 1.02, 2, true, "; 1 of 1 question open"},
		{3, 1.02, 1, true, "time over after 2 rounds, too few to tell; settle=TIME "},
		{1.5, 10, 2, false, "everything is settled"},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{
			Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Speed: c.speed}}, Bare: true, Connections: []int{10}, Blocks: 16, SD: 0.2, Seed: 1, Primary: []string{"exchanges_per_s"},
		})
		h.Study.SettleS, h.Study.Blocks, h.Study.OwnLooks = 30, 16, []int{2, 6, 8, 16}
		for i := range records {
			records[i].Timeline.EndNs = int64(c.trial * 1e9)
		}
		ended, timeUp, words := 4, false, ""
		for look := 1; look < 4; look++ {
			at, err := compare.Look(h, trials, records, look)
			if err != nil {
				t.Fatal(err)
			}
			if at.Settled {
				ended, timeUp, words = look, at.TimeUp, at.Sentence
				break
			}
		}
		if ended != c.look || timeUp != c.timeUp || !strings.Contains(words, c.mention) {
			t.Errorf("trials of %v s: it ends at look %d, time up %v: %s; want look %d", c.trial, ended, timeUp, words, c.look)
		}
	}
}
