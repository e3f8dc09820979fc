package metric_test

import (
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// By hand: 20 µs for each of the window's exchanges at the hop beside the server's 12; a
// direct path is the server's; a study that does not speak of paths has none; ten
// connections say nothing of a connection's memory.
func TestMetricsOfHops(t *testing.T) {
	for _, c := range []struct {
		level       string
		connections int
		hop         bool
		want        map[string]float64
	}{
		{"nginx", 100, true, map[string]float64{metric.HopCPU: 20, metric.PathCPU: 32, metric.HopRSS: 3<<20 + 100*4096, metric.HopConnectionRSS: 4096}},
		{"nginx", 10, true, map[string]float64{metric.HopCPU: 20, metric.PathCPU: 32, metric.HopRSS: 3<<20 + 10*4096}},
		{"direct", 100, false, map[string]float64{metric.PathCPU: 12}},
		{"", 100, false, nil},
	} {
		_, _, records := synthetic.Run(synthetic.Options{
			Arms: []synthetic.Arm{{Name: "go-net", Levels: map[string]string{record.PathFactor: c.level}}}, Connections: []int{c.connections}, Blocks: 1, Rate: 1000,
		})
		r := &records[0]
		if c.hop {
			synthetic.Hop(r, "nginx", 20_000, 4096)
		}
		for _, name := range []string{metric.HopCPU, metric.PathCPU, metric.HopRSS, metric.HopConnectionRSS} {
			m, err := metric.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := m.Value(r)
			want, wanted := c.want[name]
			if ok != wanted || ok && (got < want*0.98 || got > want*1.02) {
				t.Errorf("path %q, %d connections: %s is %g (%v), want %g (%v)", c.level, c.connections, name, got, ok, want, wanted)
			}
		}
	}
}
