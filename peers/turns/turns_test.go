package turns

import (
	"context"
	"testing"
)

// Two means differ by more than chance, or do not. Of the shift of 2 Welch's t is 3.78, p 0.0054.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		shift, level float64
		want         bool
	}{{0, 0.05, false}, {1, 0.05, false}, {2, 0.006, true}, {2, 0.005, false}} {
		of := [2][]float64{{10, 11, 12, 11, 10}, {10 + c.shift, 12 + c.shift, 11 + c.shift, 10 + c.shift, 11 + c.shift}}
		if differ(of, c.level) != c.want {
			t.Errorf("means %g apart differ at %g: %t", c.shift, c.level, !c.want)
		}
	}
	if differ([2][]float64{{1}, {2}}, 0.05) {
		t.Error("two values differ")
	}
}

// The rate is the one that the program prints; of an amount it comes of the time.
func TestLoad(t *testing.T) {
	rate, err := Loader("echo Requests/sec: \t 8123.45").load(context.Background(), "http://x/")
	if err != nil || rate != 8123.45 {
		t.Errorf("the rate is %v: %v", rate, err)
	}
	if _, err := Loader("echo none").load(context.Background(), "http://x/"); err == nil {
		t.Error("nothing printed is a rate")
	}
	if rate, err := Loader("true -n 3").load(context.Background(), "http://x/"); err != nil || rate <= 0 {
		t.Errorf("of an amount the rate is %v: %v", rate, err)
	}
}
