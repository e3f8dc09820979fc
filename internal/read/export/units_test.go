package export

import (
	"strings"
	"testing"

	"netdyno/internal/metric"
)

// A metric's name ends in its unit, and each format makes a name of its own of it.
func TestNamesOfMetrics(t *testing.T) {
	bases := map[string]base{"µs": ofSeconds, "s": ofSeconds, "µs/s": ofSeconds, "s/GB": ofSeconds, "B": ofBytes, "B/s": ofBytes, "share": ofRatio, "1": ofCount, "1/s": ofCount, "s/s": ofCount}
	scales := map[string]float64{"µs": 1e-6, "µs/s": 1e-6}
	families, units := map[string]string{}, map[string]string{}
	for _, m := range metric.All() {
		n := namingOf(m)
		want, known := bases[m.Unit]
		if !known || n.base != want {
			t.Errorf("%s in %q is taken for base %d", m.Name, m.Unit, n.base)
		}
		if scale := scales[m.Unit]; scale != 0 && n.scale != scale {
			t.Errorf("%s in %q is multiplied by %g", m.Name, m.Unit, n.scale)
		}
		if per := strings.HasSuffix(m.Unit, "/s") && m.Unit != "s/s"; per != (n.per == "s") {
			t.Errorf("%s in %q is divided by %q", m.Name, m.Unit, n.per)
		}
		family, unit, _ := familyName(m)
		if families[family] != "" || family != identifier(family) || unit != "" && !strings.HasSuffix(family, "_"+unit) {
			t.Errorf("%s is family %s in %q, as %s", m.Name, family, unit, families[family])
		}
		bench, _ := benchmarkUnit(n)
		if units[bench] != "" {
			t.Errorf("%s is unit %s, as %s", m.Name, bench, units[bench])
		}
		families[family], units[bench] = m.Name, m.Name
	}
	for name, want := range map[string][2]string{
		"server.cpu_us_per_exchange":      {"netdyno_server_cpu_seconds_per_exchange", "server-cpu-ns/op"},
		"response_p99_us":                 {"netdyno_response_p99_seconds", "response-p99-ns"},
		"exchanges_per_s":                 {"netdyno_exchanges_per_second", "exchanges/s"},
		"goodput_bytes_per_s":             {"netdyno_goodput_bytes_per_second", "goodput-B/s"},
		"server.rss_bytes":                {"netdyno_server_rss_bytes", "server-rss-B"},
		"error_share":                     {"netdyno_error_ratio", "error-ratio"},
		"server.cpu_s_per_gb":             {"netdyno_server_cpu_seconds_per_byte", "server-cpu-ns/GB"},
		"server.threads":                  {"netdyno_server_threads", "server-threads"},
		"server.gc_pause_us_per_s":        {"netdyno_server_gc_pause_seconds_per_second", "server-gc-pause-ns/s"},
		"server.allocs_per_exchange":      {"netdyno_server_allocs_per_exchange", "server-allocs/op"},
		"server.alloc_bytes_per_exchange": {"netdyno_server_alloc_bytes_per_exchange", "server-alloc-B/op"},
	} {
		if families[want[0]] != name || units[want[1]] != name {
			t.Errorf("%s is family %s of %q, unit %s of %q", name, want[0], families[want[0]], want[1], units[want[1]])
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]string{"connections": "connections", "opt.a b": "opt_a_b", "9x": "x9x", "": "x", "__x": "x", "é\n\"": "x", "le": "le"} {
		if got := identifier(name); got != want {
			t.Errorf("identifier(%q) = %q, want %q", name, got, want)
		}
	}
}
