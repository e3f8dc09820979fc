package ladder_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/ladder"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const cost = "server.cpu_us_per_exchange"

func read(t *testing.T, blocks int) ladder.Ladders {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Arms:        []synthetic.Arm{{Name: "pooled"}, {Name: "copied", Cost: 1.5}, {Name: "encoded", Cost: 3}, {Name: "gone", Cost: 3}},
		Connections: []int{50}, Blocks: blocks, SD: 0.02, BlockSD: 0.1, Rate: 20_000, Bare: true, Seed: 5, Primary: []string{cost},
	})
	for i := range records {
		if records[i].Trial.Arm == "gone" {
			records[i].Outcome = record.Unsupported
		}
	}
	h.Study.Ladders = []record.Ladder{{Arms: h.Study.Vary[0].Levels, Steps: []record.Step{{Title: "a copy"}, {Changes: []string{"codec", "tls"}}, {}}}}
	s, err := cells.Read(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return ladder.Read(s, compare.MeasureNoise(s))
}

// Each arm is divided by the one before, and an arm that could not run by none.
func TestStepsAreOfNeighbours(t *testing.T) {
	steps := read(t, 8)[0].Steps
	if len(steps) != 4 {
		t.Fatalf("%d steps", len(steps))
	}
	for i, want := range []float64{1.5, 2} {
		if s := steps[i]; s.Low > want || s.High < want || s.Verdict != compare.Worse || s.Family != 2 {
			t.Errorf("step %d is %v (%v–%v), %s, of a family of %d", i, s.Ratio, s.Low, s.High, s.Verdict, s.Family)
		}
	}
	for _, s := range steps[2:] {
		if s.Verdict != compare.Unsupported || s.Reason == "" {
			t.Errorf("%s ÷ %s is %s: %s", s.Arm, s.Base, s.Verdict, s.Reason)
		}
	}
	if few := read(t, 1)[0].Steps[0]; few.Verdict.Refused() == (few.Reason == "") || few.Ratio > 0 {
		t.Errorf("of one block %+v", few)
	}
}

func TestALadderIsATable(t *testing.T) {
	sections := read(t, 8).Part().Sections
	if len(sections) != 1 || len(sections[0].Tables[0].Rows) != 4 || sections[0].Tables[0].Rows[0][2].Text != "a copy: pooled → copied" {
		t.Errorf("%+v", sections)
	}
	if notes := strings.Join(sections[0].Notes, "\n"); !strings.Contains(notes, "from copied to encoded changes several things at once: codec, tls") {
		t.Errorf("%q", notes)
	}
}
