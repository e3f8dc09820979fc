package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/race"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A race is its own answer, whatever else the study asks; an analysis that found nothing
// says nothing.
func TestTheHeadlineIsChosenInOnePlace(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Connections: []int{50}, SD: 0.005, BlockSD: 0.1, Blocks: 8, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "base"}, {Name: "fast", Speed: 1.5}},
	})
	h.Study.Reaches = []record.Reach{{Metric: rate, Share: 0.95, Least: []string{"connections"}}}
	plain := find(t, h, trials, records)
	if len(plain.Answer.Judged) == 0 || len(plain.Answers) == 0 || !strings.Contains(strings.Join(plain.Answer.Sentences, " "), "best exchange rate ") {
		t.Errorf("comparisons and a reach answer %q", plain.Answer.Sentences)
	}
	h.Study.Race = &record.Race{Best: rate, Confirm: 6}
	raced := find(t, h, trials, records)
	if len(raced.Answer.Judged)+len(raced.Answers) > 0 || strings.Join(raced.Answer.Sentences, " ") != strings.Join(raced.Race.Sentences, " ") {
		t.Errorf("a race answers %q, the run %q", raced.Race.Sentences, raced.Answer.Sentences)
	}
	nothing := finding.Findings{Run: compare.Run{}}
	for _, h := range nothing.Headlines() {
		if h.Open || len(h.Sentences)+len(h.Forms)+len(h.Warnings) > 0 {
			t.Errorf("nothing was asked, and a headline says %+v", h)
		}
	}
	for _, a := range nothing.Analyses() {
		if len(a.Part().Sections) > 0 {
			t.Errorf("nothing was asked, and there is a part %+v", a.Part())
		}
	}
	open := finding.Findings{Race: &race.Race{State: race.Confirmed}, Costs: cost.Costs{{Reason: "no blocks"}}}
	if open.Answered() || len(open.Headlines()) < 2 {
		t.Error("one of two questions is open, and the run counts as answered")
	}
	if whole := open.Race.Headline(); whole.Place != part.Whole {
		t.Errorf("a race stands at %v", whole.Place)
	}
}
