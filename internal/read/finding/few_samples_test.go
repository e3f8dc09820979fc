package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

// A percentile for which too little was done is asked about in vain, and what
// it lacks is said.
func TestTooFewExchangesAreSaid(t *testing.T) {
	f := findIn(t, synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Connections: []int{50}, Rate: 55, Primary: []string{"response_p99_us"},
	})
	const why = "it needs 1000 exchanges in all, and b completed only 880"
	if len(f.Answers) != 1 || !strings.Contains(f.Answers[0], "at least 2 are needed; "+why) {
		t.Errorf("answers %q, want one that says %q", f.Answers, why)
	}
	if got := warnedOf(f, compare.FewSamples); got != nil {
		t.Errorf("warned %q of what is refused", got)
	}
}

func warnedOf(f finding.Findings, about string) []string {
	var texts []string
	for _, w := range f.Warnings {
		if w.About == about {
			texts = append(texts, w.Text)
		}
	}
	return texts
}
