package draw

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
)

// vectorTable is a table of contract/vectors, written out or by its rule.
type vectorTable struct{ contract.Table }

func (v *vectorTable) UnmarshalJSON(text []byte) error {
	var rule struct {
		Many    int64 `json:"many"`
		StepEnd int64 `json:"step_end"`
		Step    int64 `json:"step"`
	}
	if json.Unmarshal(text, &v.Table) == nil {
		return nil
	}
	if err := json.Unmarshal(text, &rule); err != nil {
		return err
	}
	for i := range rule.Many {
		v.Table = append(v.Table, contract.Segment{(i + 1) * rule.StepEnd, i * rule.Step, i*rule.Step + rule.Step - 1})
	}
	return nil
}

func TestDrawVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "contract", "vectors", "sizes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Streams []struct {
			Seed    uint64
			Stream  uint64
			Outputs []string
		}
		Tables map[string]vectorTable
		Draws  []struct {
			Name      string
			Seed      uint64
			Numbers   []uint64
			UpBytes   []int64 `json:"up_bytes"`
			DownBytes []int64 `json:"down_bytes"`
		}
		Refused []struct {
			Name  string
			Table contract.Table
			Many  *vectorTable
		}
	}
	if err := json.Unmarshal(text, &v); err != nil || len(v.Draws) < 15 || len(v.Refused) < 9 || len(v.Streams) < 16 {
		t.Fatalf("%d draws, %d refused, %d streams, %v", len(v.Draws), len(v.Refused), len(v.Streams), err)
	}
	for _, s := range v.Streams {
		for n, want := range s.Outputs {
			if got := fmt.Sprintf("%016x", At(At(s.Seed, s.Stream-1), uint64(n))); got != want {
				t.Errorf("output %d of stream %d of seed %d is %s, want %s", n, s.Stream, s.Seed, got, want)
			}
		}
	}
	for _, d := range v.Draws {
		table := v.Tables[d.Name].Table
		if err := table.Check(contract.MaxMessage); err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		up, down := NewDrawer(table, d.Seed, Up), NewDrawer(table, d.Seed, Down)
		for i, n := range d.Numbers {
			if up.Draw(n) != d.UpBytes[i] || down.Draw(n) != d.DownBytes[i] {
				t.Errorf("%s, seed %d: number %d is %d up and %d down, want %d and %d", d.Name, d.Seed, n, up.Draw(n), down.Draw(n), d.UpBytes[i], d.DownBytes[i])
			}
		}
	}
	for _, r := range v.Refused {
		table := r.Table
		if r.Many != nil {
			table = r.Many.Table
		}
		if table.Check(contract.MaxMessage) == nil {
			t.Errorf("%s: accepted", r.Name)
		}
	}
}

// Of any table the draws have its mean and variance, and lie in its segments by their
// probabilities.
func TestDrawsAreOfTheTable(t *testing.T) {
	const n = 20_000
	rapid.Check(t, func(t *rapid.T) {
		var table contract.Table
		for end := int64(0); end < contract.TableEnd; {
			end = min(contract.TableEnd, end+rapid.Int64Range(1<<27, 1<<31).Draw(t, "share"))
			low := rapid.Int64Range(0, 1<<20).Draw(t, "low")
			table = append(table, contract.Segment{end, low, low + rapid.Int64Range(0, 1<<20).Draw(t, "span")})
		}
		if err := table.Check(contract.MaxMessage); err != nil {
			t.Fatal(err)
		}
		d, sum, squares := NewDrawer(table, rapid.Uint64().Draw(t, "seed"), Up), 0.0, 0.0
		for i := range uint64(n) {
			x := float64(d.Draw(i)) - table.Mean()
			sum, squares = sum+x, squares+x*x
		}
		sd := math.Sqrt(table.Variance())
		if off := sum / n; math.Abs(off) > 6*sd/math.Sqrt(n)+1e-9 {
			t.Errorf("mean off by %v of standard deviation %v", off, sd)
		}
		if v := squares / n; sd > 0 && math.Abs(v/table.Variance()-1) > 0.2 {
			t.Errorf("variance %v, of the table %v", v, table.Variance())
		}
	})
}

// Due times never fall, and the place that an instant stands for is the one whose due it is.
func TestWarpGoesThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) contract.Phase {
			rate := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(10, 1e6))
			return contract.Phase{float64(rapid.Int64Range(1e6, 1e10).Draw(t, "ns")), rate.Draw(t, "first"), rate.Draw(t, "last")}
		}), 1, 6).Draw(t, "phases")
		if CheckPhases(phases) != nil {
			return
		}
		w, last := NewWarp(phases, rapid.Bool().Draw(t, "repeat")), int64(0)
		for _, share := range []float64{0, 0.1, 0.3, 0.5, 0.9, 0.999, 1, 1.5, 7.25} {
			x := share * w.all
			due := w.DueNs(x)
			if due < last {
				t.Errorf("place %v is due at %d, after %d", x, due, last)
			}
			if last = due; due >= Never {
				return
			}
			if back := w.Place(float64(due)); math.Abs(back-x) > 1e-6*w.all+w.Peak()*2e-9 {
				t.Errorf("place %v is due at %d ns, where the place is %v", x, due, back)
			}
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	var many contract.Table
	for i := range int64(400) {
		many = append(many, contract.Segment{(i + 1) * contract.TableEnd / 400, i * 1000, i*1000 + 999})
	}
	for name, table := range map[string]contract.Table{"one segment": {{contract.TableEnd, 100, 4096}}, "400 segments": many} {
		b.Run(name, func(b *testing.B) {
			d, n, sum := NewDrawer(table, 1, Up), uint64(0), int64(0)
			for b.Loop() {
				sum += d.Draw(n)
				n++
			}
			if sum == 0 {
				b.Fatal("nothing drawn")
			}
		})
	}
}
