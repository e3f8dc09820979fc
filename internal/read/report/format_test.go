package report

import (
	"math"
	"testing"
)

func TestScaleFor(t *testing.T) {
	for _, c := range []struct {
		metric, unit string
		largest      float64
		want, text   string
	}{
		{"exchanges_per_s", "1/s", 20_000, "k/s", "20.0"},
		{"goodput_bytes_per_s", "B/s", 3.25e9, "GB/s", "3.25"},
		{"server.rss_bytes", "bytes", 64 << 20, "MiB", "64.0"},
		{"response_p99_us", "us", 1500, "ms", "1.50"},
		{"response_p99_us", "us", 0.5, "ns", "500"},
		{"server.cpu_us_per_exchange", "", 9.6, "µs/exchange", "9.60"},
		{"client.cpu_s_per_gb", "", 0.91, "s/GB", "0.910"},
		{"server.gc_pause_us_per_s", "", 130, "µs/s", "130"},
		{"server.alloc_bytes_per_exchange", "", 2048, "KiB/exchange", "2.00"},
		{"host.softirq_share", "", 0.031, "%", "3.10"},
		{"server.cores", "cores", 1.5, "cores", "1.50"},
		{"someone.else", "furlongs", 3, "furlongs", "3.00"},
	} {
		s := scaleFor(c.metric, c.unit, c.largest)
		if s.Unit != c.want || s.text(c.largest) != c.text {
			t.Errorf("%s of %v: %s %s, want %s %s", c.metric, c.largest, s.text(c.largest), s.Unit, c.text, c.want)
		}
	}
}

func TestLabelOf(t *testing.T) {
	for metric, want := range map[string]string{
		"exchanges_per_s": "rate", "server.cpu_us_per_exchange": "server CPU", "response_p999_us": "response p99.9",
		"service_mean_us": "service mean", "client.peak_rss_bytes": "client peak RSS", "something_new": "something_new",
	} {
		if got := labelOf(metric); got != want {
			t.Errorf("labelOf(%s) = %q, want %q", metric, got, want)
		}
	}
}

func TestProbability(t *testing.T) {
	for p, want := range map[float64]string{0.00001: "<0.0001", 0.0078: "0.0078", 0.61: "0.61", 1: "1.00", math.NaN(): "–"} {
		if got := probability(p); got != want {
			t.Errorf("probability(%v) = %q, want %q", p, got, want)
		}
	}
}
