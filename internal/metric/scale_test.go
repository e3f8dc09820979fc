package metric_test

import (
	"testing"

	"netdyno/internal/metric"
)

func TestShownUnitSuitsTheLargestValue(t *testing.T) {
	for _, c := range []struct {
		metric     string
		largest    float64
		want, text string
	}{
		{"exchanges_per_s", 20_000, "k/s", "20.0"},
		{"goodput_bytes_per_s", 3.25e9, "GB/s", "3.25"},
		{"server.rss_bytes", 64 << 20, "MiB", "64.0"},
		{"response_p99_us", 1500, "ms", "1.50"},
		{"response_p99_us", 0.5, "ns", "500"},
		{"server.cpu_us_per_exchange", 9.6, "µs/exchange", "9.60"},
		{"client.cpu_s_per_gb", 0.91, "ms/GB", "910"},
		{"server.gc_pause_us_per_s", 130, "µs/s", "130"},
		{"server.gc_pause_us_per_cycle", 2300, "ms/cycle", "2.30"},
		{"server.alloc_bytes_per_exchange", 2048, "KiB/exchange", "2.00"},
		{"server.allocs_per_exchange", 12, "/exchange", "12.0"},
		{"server.goroutines", 12, "goroutines", "12.0"},
		{"host.softirq_share", 0.031, "%", "3.10"},
		{"server.cores", 1.5, "cores", "1.50"},
		{"work_s", 0.25, "ms", "250"},
		{"of.a.newer.version", 3, "", "3.00"},
	} {
		s := metric.Shown(c.metric).Scale(c.largest)
		if s.Unit != c.want || s.Format(c.largest) != c.text {
			t.Errorf("%s of %v: %s %s, want %s %s", c.metric, c.largest, s.Format(c.largest), s.Unit, c.text, c.want)
		}
	}
}

// Two columns of one table must not be headed alike, and a unit must have a
// scale, so that a large value is not printed with ten digits.
func TestEveryMetricCanBeShown(t *testing.T) {
	labels := map[string]string{}
	for _, m := range metric.All() {
		if m.Label == "" || m.Heading == "" {
			t.Errorf("%s has no label or no heading", m.Name)
		}
		if other, taken := labels[m.Label]; taken {
			t.Errorf("%s and %s have the label %q", other, m.Name, m.Label)
		}
		labels[m.Label] = m.Name
		if s := m.Scale(1); s.Factor <= 0 || m.Unit == "1" && m.Suffix == "" && s.Unit != "" {
			t.Errorf("%s is shown in %+v", m.Name, s)
		}
		if got := metric.Shown(m.Name); got.Name != m.Name {
			t.Errorf("Shown(%q) is %q", m.Name, got.Name)
		}
	}
}
