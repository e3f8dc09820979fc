package mesh

import (
	"strings"
	"testing"
)

func hid(metric string, hosts, ways float64) Hidden {
	return Hidden{Metric: metric, Hosts: hosts, Ways: ways}
}

// That hosts are equal is said only with the largest difference that
// could have hidden, and only where that is small.
func TestEqualityOfHostsIsSaidWithItsBound(t *testing.T) {
	const rtt = "response_p50_us"
	for name, c := range map[string]struct {
		margin float64
		hidden []Hidden
		want   string
	}{
		"all told": {0.05, []Hidden{hid(Goodput, 1.03, 1.06), hid(rtt, 1.081, 1.09)}, "All 8 hosts are equal within 8.1 %."},
		"latency is not": {0.05, []Hidden{hid(Goodput, 1.03, 1.06), hid(rtt, 20.1, 60), hid(SendCPU, 1.44, 0)},
			"All 8 hosts are equal in goodput within 3 %; differences up to 20.1× in latency and 44 % in CPU to send could hide."},
		"nothing is": {0.05, []Hidden{hid(Goodput, 0, 0), hid(rtt, 20.1, 60)},
			"Whether all 8 hosts are equal is too close to call: differences up to any size in goodput and 20.1× in latency could hide."},
		"by a larger margin": {0.25, []Hidden{hid(Goodput, 1.2, 1.2)}, "All 8 hosts are equal within 20 %."},
	} {
		m := &Mesh{Hosts: make([]Host, 8), Pairs: 56, Latency: rtt, Margin: c.margin, Hidden: c.hidden, Middles: []Middle{{Metric: Goodput, Value: 1e9}}}
		if got := strings.Join(m.sentences(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Beside what is named stands how much could have hidden in the others.
func TestWhatHidesInTheOthersIsSaid(t *testing.T) {
	m := &Mesh{
		Hosts: make([]Host, 8), Pairs: 56, Margin: 0.05, Hidden: []Hidden{hid(Goodput, 1.5, 3)}, Middles: []Middle{{Metric: Goodput, Value: 1e9}},
		Outliers: []Outlier{{Kind: Lost, Hosts: []string{"node8"}, Missing: 3, Of: 4}},
	}
	if got := strings.Join(m.sentences(), " "); !strings.Contains(got, "Whether the other 7 hosts are equal is too close to call: differences up to 50 % in goodput could hide.") {
		t.Error(got)
	}
}
