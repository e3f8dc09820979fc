package view

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

func (f front) onFront() string {
	var names []string
	for _, m := range f.chart.Marks {
		if m.Front {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestFrontAndKneeRule(t *testing.T) {
	for _, c := range []struct {
		name   string
		points [][2]float64 // gain, cost
		gain   string
		front  string
		knee   string
	}{
		{"one", [][2]float64{{1, 1}}, metric.Higher, "0", "points on the front: 1"},
		{"two", [][2]float64{{1, 1}, {2, 2}}, metric.Higher, "0 1", "points on the front: 2"},
		{"bent", [][2]float64{{10, 1}, {100, 2}, {110, 100}}, metric.Higher, "0 1 2", "the knee is 1:"},
		{"straight on logarithmic axes", [][2]float64{{1, 1}, {10, 10}, {100, 100}}, metric.Higher, "0 1 2", "no point of the front lies above"},
		{"bent the other way", [][2]float64{{1, 1}, {2, 10}, {100, 20}}, metric.Higher, "0 1 2", "no point of the front lies above"},
		{"a tie of knees", [][2]float64{{1, 1}, {10, 2}, {50, 10}, {100, 100}}, metric.Higher, "0 1 2 3", "no knee: 1 and 2 lie equally far"},
		{"dominated", [][2]float64{{10, 1}, {9, 2}, {10, 3}, {100, 2}, {110, 100}}, metric.Higher, "0 3 4", "the knee is 3:"},
		{"same cost, less gain", [][2]float64{{10, 1}, {9, 1}}, metric.Higher, "0", "points on the front: 1"},
		{"twins", [][2]float64{{10, 1}, {10, 1}, {100, 2}, {110, 100}}, metric.Higher, "0 1 2 3", "the knee is 2:"},
		{"two metrics of cost", [][2]float64{{100, 1}, {10, 2}, {9, 100}, {50, 50}}, metric.Lower, "0 1 2", "the knee is 1:"},
		{"nothing spent", [][2]float64{{1, 0}, {10, 2}, {100, 20}}, metric.Higher, "0 1 2", "0 is not positive"},
		{"hardly any distance", [][2]float64{{1, 1}, {1.0000000000000002, 2}, {2, 1e300}}, metric.Higher, "0 1 2", "no knee"},
	} {
		f := frontOf(c.points, c.gain, metric.Lower)
		f.findFront()
		if got, knee := f.onFront(), f.knee(); got != c.front || !strings.Contains(knee, c.knee) {
			t.Errorf("%s: front %s, want %s; %q, want %q", c.name, got, c.front, knee, c.knee)
		}
	}
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
