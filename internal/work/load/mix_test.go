package load

import (
	"testing"

	"netdyno/internal/contract"
)

// The vectors say which class, sizes and key each exchange has.
func TestMixVectors(t *testing.T) {
	var v struct {
		Load  contract.Load
		Draws []struct {
			Seed, Number uint64
			Class        int
			UpBytes      int64 `json:"up_bytes"`
			DownBytes    int64 `json:"down_bytes"`
			Key          int64
		}
		Refused []struct {
			Name string
			Load contract.Load
		}
	}
	if err := readVectors("mix.json", &v); err != nil || len(v.Draws) < 20 || len(v.Refused) < 4 {
		t.Fatalf("%d draws, %d refused, %v", len(v.Draws), len(v.Refused), err)
	}
	setup := contract.Setup{Exchange: contract.Exchange{UpBytes: 1024, DownBytes: 1 << 20}, Load: v.Load}
	for _, d := range v.Draws {
		setup.Seed = d.Seed
		draws, err := DrawsOf(setup)
		if err != nil {
			t.Fatal(err)
		}
		if got := draws.Of(d.Number); got.Class != d.Class || got.Up != d.UpBytes || got.Down != d.DownBytes || got.Key != d.Key {
			t.Errorf("seed %d, exchange %d: %+v, want %+v", d.Seed, d.Number, got, d)
		}
	}
	for _, r := range v.Refused {
		setup.Load = r.Load
		setup.Load.Connections = 1
		if _, err := New(setup, 1); KindOf(err) != contract.SetupFailed || err == nil {
			t.Errorf("%s: %v, want an error of kind setup", r.Name, err)
		}
	}
}
