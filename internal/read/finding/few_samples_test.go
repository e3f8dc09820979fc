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
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Connections: []int{50}, Rate: 400, Primary: []string{"response_p99_us"},
	})
	const why = "it needs 1000 exchanges in a window, and b completed only 800 in one"
	if len(f.Answers) != 1 || !strings.Contains(f.Answers[0], "at least 2 are needed; "+why) {
		t.Errorf("answers %q, want one that says %q", f.Answers, why)
	}
	if got := warnedOf(f, compare.FewSamples); got != nil {
		t.Errorf("warned %q of what is refused", got)
	}
	f = findIn(t, synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a", Speed: 1. / 120}}, Connections: []int{1}, SD: 0.1, Primary: []string{"service_p99_us"},
	})
	const half = "service p99 is absent from 6 of 16 valid trials of a at 1 connection: it needs 1000 exchanges in a window, and a completed only 885 in one"
	if got := warnedOf(f, compare.FewSamples); len(got) != 1 || got[0] != half {
		t.Errorf("warned %q, want %q", got, half)
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

// What an arm is called in a warning is what the rest of the report calls it.
func TestWarningsNameArmsByTheirLabels(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a", Speed: 1. / 120}}, Connections: []int{1}, SD: 0.1, Primary: []string{"service_p99_us"},
	})
	h.Study.Labels.Levels = map[string]map[string]string{h.Study.Compare.Factor: {"a": "HTTP/1.1, read whole"}}
	const half = "6 of 16 valid trials of HTTP/1.1 (read whole) at 1 connection: it needs 1000 exchanges in a window, and HTTP/1.1 (read whole) completed only 885 in one"
	if got := warnedOf(find(t, h, trials, records), compare.FewSamples); len(got) != 1 || !strings.Contains(got[0], half) {
		t.Errorf("warned %q, want %q", got, half)
	}
}
