package rig

import (
	"strings"
	"testing"

	"netdyno/internal/run/cpuset"
)

// Hops have CPUs of their own where there are enough, the same whether there is a hop or
// not, and the first of several sits with the clients.
func TestHopSeats(t *testing.T) {
	for name, c := range map[string]struct {
		hosts     []Host
		placement string
		hops      int
		want      string
	}{
		"thirds":              {[]Host{hostOf("a", "", "0-5")}, "separate", 1, "a:0-1; a:2-3; a:4-5"},
		"thirds without one":  {[]Host{hostOf("a", "", "0-5")}, "separate", 0, "a:0-1; a:4-5"},
		"two CPUs":            {[]Host{hostOf("a", "", "0-1")}, "separate", 1, "a:0; a:0; a:1"},
		"two CPUs, two hops":  {[]Host{hostOf("a", "x", "0-1"), hostOf("b", "x", "0-1")}, "separate", 2, "a:0; b:1; a:0; b:1"},
		"two machines":        {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "y", "0-3")}, "separate", 1, "a:0-1; a:2-3; b:0-3"},
		"a sidecar each":      {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "y", "0-3")}, "separate", 2, "a:0-1; b:2-3; a:2-3; b:0-1"},
		"two parts, two hops": {[]Host{hostOf("a", "x", "0-2"), hostOf("b", "x", "0-2")}, "separate", 2, "a:0; b:1; a:1; b:2"},
		"shared":              {[]Host{hostOf("a", "", "0-3")}, "shared", 1, "a:0-3; a:0-3; a:0-3"},
		"free":                {[]Host{hostOf("a", "", "0-3")}, "free", 1, "a:; a:; a:"},
		"nothing left":        {[]Host{hostOf("a", "x", "0-2"), hostOf("b", "x", "1")}, "separate", 1, "no CPU of b is left"},
	} {
		server, clients, err := Seats(c.hosts, c.placement, 1)
		var hops []Seat
		if err == nil {
			hops, err = HopSeats(&server, clients, c.placement, c.hops)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		var seats []string
		for _, s := range append(append([]Seat{server}, hops...), clients...) {
			seats = append(seats, s.Name+":"+cpuset.Format(s.CPUs))
		}
		if got := strings.Join(seats, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
