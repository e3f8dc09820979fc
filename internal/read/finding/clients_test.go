package finding_test

import (
	"math"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/test/synthetic"
)

// Each client's own figures add up to the sum beside them, and one client has
// none besides.
func TestEachClientIsShownBesideTheSum(t *testing.T) {
	f := findIn(t, synthetic.Options{Bare: true, Blocks: 4, Clients: 3, Connections: []int{6}, Rate: 20_000})
	for _, a := range f.Cells[0].Arms {
		if len(a.Clients) != 3 || a.Clients[0].Name == a.Clients[1].Name {
			t.Fatalf("%s has the clients %+v", a.Name, a.Clients)
		}
		for _, metric := range []string{"exchanges_per_s", "goodput_bytes_per_s", "client.cores", "client.rss_bytes"} {
			sum, whole := 0.0, valueOf(a.Metrics, metric)
			for _, c := range a.Clients {
				sum += valueOf(c.Metrics, metric)
			}
			if !(whole > 0) || math.Abs(sum-whole) > 0.001*whole {
				t.Errorf("%s of %s: the clients make %v, the sum is %v", metric, a.Name, sum, whole)
			}
		}
	}
	for _, a := range findIn(t, synthetic.Options{Bare: true, Blocks: 2}).Cells[0].Arms {
		if a.Clients != nil {
			t.Errorf("the only client of %s is told twice", a.Name)
		}
	}
}

func valueOf(metrics []cells.Summary, name string) float64 {
	for _, m := range metrics {
		if m.Metric == name {
			return m.Value
		}
	}
	return math.NaN()
}
