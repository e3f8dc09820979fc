package record

import "testing"

func TestWhereAClaimIsTested(t *testing.T) {
	for _, c := range []struct {
		under map[string]string
		want  string
	}{
		{nil, "netdyno run s"},
		{map[string]string{"placement": "shared"}, "netdyno run s placement=shared"},
		{map[string]string{"hosts": "2+", "link.rate": "100Gbit/s"}, "on two hosts with a link of 100Gbit/s: netdyno run s --rig ssh:HOST,HOST"},
		{map[string]string{"hosts": "1", "limit": "cpu"}, "on one host where the limit is cpu: netdyno run s --rig loopback"},
	} {
		if got := WhereTested("s", c.under); got != c.want {
			t.Errorf("%v: %q, want %q", c.under, got, c.want)
		}
	}
}
