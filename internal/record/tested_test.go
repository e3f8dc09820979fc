package record

import "testing"

func TestWhereAClaimIsTested(t *testing.T) {
	for _, c := range []struct {
		under map[string]string
		needs []string
		want  string
	}{
		{nil, nil, "netdyno run s"},
		{map[string]string{"placement": "shared"}, nil, "netdyno run s placement=shared"},
		{nil, []string{"RDMA devices"}, "with RDMA devices: netdyno run s"},
		{map[string]string{"hosts": "2+", "link.rate": "100Gbit/s"}, nil, "on two hosts with a link of 100Gbit/s: netdyno run s --rig ssh:HOST,HOST"},
		{map[string]string{"hosts": "2+", "link.rate": "100Gbit/s"}, []string{"RDMA devices", "GPUs"}, "on two hosts with a link of 100Gbit/s, RDMA devices and GPUs: netdyno run s --rig ssh:HOST,HOST"},
		{map[string]string{"hosts": "1", "limit": "cpu"}, nil, "on one host where the limit is cpu: netdyno run s --rig loopback"},
	} {
		if got := WhereTested("s", c.under, c.needs...); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.under, c.needs, got, c.want)
		}
	}
}
