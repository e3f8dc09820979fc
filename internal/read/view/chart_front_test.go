package view

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// frontOf makes a front of gains and costs in the given directions.
func frontOf(points [][2]float64, gain, cost string) front {
	c := &Chart{}
	for i, p := range points {
		c.Marks = append(c.Marks, Mark{Name: fmt.Sprint(i), Metric: cells.Figure{Value: p[0]}, Against: cells.Figure{Value: p[1]}})
	}
	return front{c, metric.Metric{Better: gain}, metric.Metric{Better: cost}}
}

// The sweep finds what comparing every pair finds.
func TestFrontAgreesWithItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 500 {
		var points [][2]float64
		for range 1 + rng.IntN(12) {
			points = append(points, [2]float64{float64(1 + rng.IntN(6)), float64(1 + rng.IntN(6))})
		}
		f := frontOf(points, metric.Higher, metric.Lower)
		f.findFront()
		for i, m := range f.chart.Marks {
			beaten := false
			for _, other := range points {
				beaten = beaten || other[0] >= points[i][0] && other[1] <= points[i][1] && other != points[i]
			}
			if m.Front == beaten {
				t.Fatalf("%v: point %d on the front is %v", points, i, m.Front)
			}
		}
	}
}

func TestNumberOfALevel(t *testing.T) {
	for text, want := range map[string]float64{
		"0B": 0, "32KiB": 32768, "1000": 1000, "20k": 20000, "1.5": 1.5, "100ms": 0.1, "1m": 60, "10Gbit/s": 1e10, "50%": 0.5, "yes": 1, "no": 0, "4MB": 4e6,
	} {
		if got, ok := NumberOf(text); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, word := range []string{"", "max", "go-net", "NaN", "inf", "0x10", "1e5", "-1", "32 apples"} {
		if got, ok := NumberOf(word); ok {
			t.Errorf("%q is %v; want a word", word, got)
		}
	}
}
