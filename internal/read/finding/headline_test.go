package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
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
	h.Study.Expect = []record.Expectation{{That: []string{"exchanges_per_s of fast > base"}}}
	plain := find(t, h, trials, records)
	if len(plain.Answer.Judged) == 0 || len(plain.Answers) == 0 || !strings.Contains(strings.Join(plain.Answer.Judged, " "), "1 statement") {
		t.Errorf("comparisons and a statement answer %q, %q", plain.Answer.Sentence, plain.Answer.Judged)
	}
	h.Study.Race = &record.Race{Best: rate, Confirm: 6}
	raced := find(t, h, trials, records)
	if len(raced.Answer.Judged)+len(raced.Answers) > 0 || raced.Answer.Sentence != strings.Join(raced.Search.Sentences, " ") {
		t.Errorf("a race answers %q, the run %q", raced.Search.Sentences, raced.Answer.Sentence)
	}
	nothing := finding.Findings{Run: compare.Run{}}
	for _, h := range nothing.Headlines() {
		if len(h.Sentences)+len(h.Tables)+len(h.Warnings) > 0 {
			t.Errorf("nothing was asked, and a headline says %+v", h)
		}
	}
	for _, a := range nothing.Analyses() {
		if len(a.Part().Sections) > 0 {
			t.Errorf("nothing was asked, and there is a part %+v", a.Part())
		}
	}
}

// A run of any kind of which nothing is known yet is found all the same, and its parts are
// those of its kind.
func TestEveryKindOfRunHasItsParts(t *testing.T) {
	for kind, study := range map[string]record.Study{
		"comparison": {}, "settling": {Settle: 0.05}, "mesh": {Mesh: true}, "search": {Capacity: &record.Capacity{}}, "tuning": {Race: &record.Race{Best: "nothing"}},
	} {
		study.Blocks = 3
		f := find(t, record.Header{Schema: record.Schema, Study: study}, nil, nil)
		if got := f.Plan().Kind.Name; got != kind || len(f.Analyses()) < 3 {
			t.Errorf("a run of kind %s is %s, with %d analyses", kind, got, len(f.Analyses()))
		}
	}
}
