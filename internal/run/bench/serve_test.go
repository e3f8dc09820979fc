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

// A certificate of a server that listens everywhere holds for every address of
// its host.
func TestCertificatesNameWhereClientsConnect(t *testing.T) {
	for address, want := range map[string]string{"0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "10.0.0.1": "10.0.0.1"} {
		ips, _ := namesFor(address)
		found := false
		for _, ip := range ips {
			found = found || ip.String() == want
		}
		if !found {
			t.Errorf("a certificate for %s names %v, want %s among them", address, ips, want)
		}
	}
	if _, names := namesFor("server.example"); !slices.Contains(names, "server.example") {
		t.Errorf("a certificate for a name holds for %v", names)
	}
}
