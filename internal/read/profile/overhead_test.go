package profile

import (
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/test/synthetic"
)

// Trials that cost half as much stand for the probes: the ratio is found, and one probe
// alone has no interval.
func TestOverheadIsTheRatioOfTheTwo(t *testing.T) {
	s, err := cells.Read(synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.5}}, Blocks: 8, Connections: []int{50}, SD: 0.01, Seed: 3, Bare: true,
	}))
	if err != nil {
		t.Fatal(err)
	}
	cheap, dear := s.Of(s.Cells[0], "b"), s.Of(s.Cells[0], "a")
	name := "server." + dividable(s)[0]
	if o, ok := overhead(cheap, dear, name); !ok || o.Low > 0.5 || o.High < 0.5 || o.High-o.Low > 0.05 || o.Ratio < o.Low || o.Ratio > o.High || o.Probes != 8 || o.Trials != 16 {
		t.Errorf("%+v, want 0.5", o)
	}
	if o, ok := overhead(cheap[:1], dear, name); !ok || o.Low != o.Ratio || o.High != o.Ratio {
		t.Errorf("%+v, want no interval", o)
	}
	if o, ok := overhead(nil, dear, name); ok {
		t.Errorf("%+v without probes", o)
	}
	if o := Overheads(s); len(o) > 0 {
		t.Errorf("%+v of a run without probes", o)
	}
}
