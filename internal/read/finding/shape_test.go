package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/read/shape"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// shaped measures a published ratio in a shape in which the arm does the given
// share of its work in a window, which is 0.8 of the base's.
func shaped(t *testing.T, blocks int, share, sd float64, p record.Published) shape.Shape {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Connections: []int{1, 4}, SD: sd, BlockSD: 0.3, Blocks: blocks, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "none"}, {Name: "write"}},
	})
	for i := range trials {
		// The cells' connections stand for what ends a trial.
		of := 1.0
		if trials[i].Levels["connections"] == "4" {
			trials[i].Levels["amount"], of = "100", share
		}
		if trials[i].Arm == "write" {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], 0.8*of)
			}
		}
		delete(trials[i].Levels, "connections")
		records[i].Trial = trials[i]
	}
	p.Metric, p.Arm, p.Base, p.Ratio, p.Shape = rate, "write", "none", 0.5, map[string]string{"amount": "100"}
	h.Study.Published = []record.Published{p}
	f := find(t, h, trials, records)
	if len(f.Shapes) != 1 {
		t.Fatalf("%d shapes", len(f.Shapes))
	}
	return f.Shapes[0]
}

// Half of the work is lost at the start: the ratio of the ratios is 0.5, and start-up
// has that part of the difference.
func TestStartUpIsTheRatioOfTheRatios(t *testing.T) {
	x := shaped(t, 8, 0.5, 0.01, record.Published{})
	if !(x.StartUp.Low < 0.5 && 0.5 < x.StartUp.High) || !x.Told || !x.Shared {
		t.Errorf("start-up is %+v", x)
	}
	if quotient := x.Shaped.Point / x.InWindow.Point; math.Abs(quotient/x.StartUp.Point-1) > 1e-9 {
		t.Errorf("%v ÷ %v is not %v", x.Shaped.Point, x.InWindow.Point, x.StartUp.Point)
	}
	if want := math.Log(0.5) / math.Log(0.4); math.Abs(x.Share.Point-want) > 0.03 {
		t.Errorf("start-up has %v of the difference, want %v", x.Share.Point, want)
	}
	if !strings.Contains(x.Sentence, "accounts for 7") {
		t.Error(x.Sentence)
	}
}

func TestStartUpThatIsNotThereIsNotTold(t *testing.T) {
	if x := shaped(t, 8, 1, 0.01, record.Published{}); x.Told || !strings.Contains(x.Sentence, "no difference that can be told") {
		t.Errorf("%+v", x)
	}
	if x := shaped(t, 4, 0.5, 0.01, record.Published{}); x.Reason == "" || !strings.Contains(x.Sentence, "at least 6 are needed") {
		t.Errorf("of 4 blocks: %+v", x)
	}
	if x := shaped(t, 8, 0.5, 0.01, record.Published{Under: map[string]string{"hosts": "2+"}}); !strings.Contains(x.Sentence, "under other conditions: hosts=2+ (here 1)") {
		t.Error(x.Sentence)
	}
}
