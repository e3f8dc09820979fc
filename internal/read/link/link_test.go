package link

import (
	"math"
	"math/rand/v2"
	"testing"

	"netdyno/internal/record"
)

// Of links that every setting fills to just as much as is asked, at most one in twenty and
// some has a setting that fills it, however many settings there are.
func TestAFullLinkIsRarelyClaimedWrongly(t *testing.T) {
	const runs, blocks, settings, sd = 2000, 7, 12, 0.02
	random := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range runs {
		l := &Link{Spec: record.LinkQuestion{TCP: []string{"tcp"}, Share: 0.95}}
		var at []*gathered
		for range settings {
			g := &gathered{}
			for block := range blocks {
				g.share.Add(block+1, 0.95*math.Exp(sd*random.NormFloat64()))
			}
			share, _ := g.share.Figure()
			l.Settings, at = append(l.Settings, Setting{Arm: "tcp", Share: share}), append(at, g)
		}
		l.judge(at)
		for _, x := range l.Settings {
			if x.Standing == Fills {
				wrong++
				break
			}
		}
	}
	// One end of each interval is at stake, so 2.5 % are expected; three standard deviations more are 3.5 %.
	if share := float64(wrong) / runs; share > 0.036 {
		t.Errorf("%.1f %% of links at the bound are said to be full", 100*share)
	}
}

func TestRateInWords(t *testing.T) {
	for level, want := range map[string]string{"1Gbit/s": "1\u00a0Gbit/s", "100Mbit/s": "100\u00a0Mbit/s", "2.5Gbit/s": "2.5\u00a0Gbit/s"} {
		if got := rateWords(level); got != want {
			t.Errorf("%s is %q, want %q", level, got, want)
		}
	}
}
