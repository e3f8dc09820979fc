package mesh

import (
	"strings"
	"testing"
)

func hid(metric string, hosts, ways float64) Hidden {
	return Hidden{Metric: metric, Hosts: hosts, Ways: ways}
}

// That hosts are as good as each other is said only with the largest difference that
// could have hidden, and only where that is small.
func TestEqualityOfHostsIsSaidWithItsBound(t *testing.T) {
	const rtt = "response_p50_us"
	for name, c := range map[string]struct {
		margin float64
		hidden []Hidden
		want   []string
		never  string
	}{
		"all told": {0.05, []Hidden{hid(Goodput, 1.03, 1.06), hid(rtt, 1.081, 1.09)}, []string{
			"All 8 hosts are as good as each other: none is worse by more than 8.1 %.", "So is every way between two of them, within 9 %.",
		}, "cannot be told"},
		"latency is not": {0.05, []Hidden{hid(Goodput, 1.03, 1.06), hid(rtt, 20.1, 60), hid(SendCPU, 1.44, 0)}, []string{
			"In goodput all 8 hosts are as good as each other: none is worse by more than 3 %.",
			"it cannot be told: differences up to 20.1× in latency, 44 % in CPU to send could hide", "Of a single way between two of them differences up to 60.0× in latency could hide.",
		}, "All 8 hosts are"},
		"nothing is": {0.05, []Hidden{hid(Goodput, 0, 0), hid(rtt, 20.1, 60)}, []string{
			"Whether all 8 hosts are as good as each other cannot be told: differences up to any size in goodput, 20.1× in latency could hide",
		}, "worse by more than"},
		"by a larger margin": {0.25, []Hidden{hid(Goodput, 1.2, 1.2)}, []string{"All 8 hosts are as good as each other: none is worse by more than 20 %."}, "cannot be told"},
	} {
		m := &Mesh{Hosts: make([]Host, 8), Pairs: 56, Latency: rtt, Margin: c.margin, Hidden: c.hidden, Middles: []Middle{{Metric: Goodput, Value: 1e9}}}
		got := strings.Join(m.sentences(), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		if strings.Contains(got, c.never) {
			t.Errorf("%s: %q says %q", name, got, c.never)
		}
	}
}

// Beside what is named stands how much could have hidden in the others.
func TestWhatHidesInTheOthersIsSaid(t *testing.T) {
	m := &Mesh{
		Hosts: make([]Host, 8), Pairs: 56, Margin: 0.05, Hidden: []Hidden{hid(Goodput, 1.5, 3)}, Middles: []Middle{{Metric: Goodput, Value: 1e9}},
		Outliers: []Outlier{{Kind: Lost, Hosts: []string{"node8"}, Missing: 3, Of: 4}},
	}
	if got := strings.Join(m.sentences(), " "); !strings.Contains(got, "Of the other 7 hosts none is named (differences up to 50 % in goodput could hide): the middle pair") {
		t.Error(got)
	}
}
