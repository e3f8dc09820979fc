package bench

import (
	"slices"
	"testing"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// A server whose clients are on its own host leaves them their CPUs; one whose
// clients come from elsewhere has all.
func TestAStandingServersCPUs(t *testing.T) {
	for _, c := range []struct {
		listen, placement string
		want              []int
	}{
		{"", "separate", []int{0, 1}},
		{"127.0.0.1:0", "separate", []int{0, 1}},
		{"[::1]:0", "separate", []int{0, 1}},
		{"10.0.0.1:80", "separate", []int{0, 1, 2, 3}},
		{"0.0.0.0:80", "separate", []int{0, 1, 2, 3}},
		{":80", "separate", []int{0, 1, 2, 3}},
		{"10.0.0.1:80", "free", nil},
	} {
		tr := &trial{
			bench: &Bench{Hosts: []rig.Host{{Name: "local", Address: "127.0.0.1", CPUs: []int{0, 1, 2, 3}}}},
			work:  study.Work{Placement: c.placement, Clients: 1},
		}
		seat, err := tr.standingSeat(c.listen)
		if err != nil || !slices.Equal(seat.CPUs, c.want) {
			t.Errorf("listening on %q, placement %s: CPUs %v (%v), want %v", c.listen, c.placement, seat.CPUs, err, c.want)
		}
	}
}
