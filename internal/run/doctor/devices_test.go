package doctor

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"netdyno/internal/record"
)

func TestDevicesAreListed(t *testing.T) {
	text, err := os.ReadFile("../rig/testdata/fast.json")
	if err != nil {
		t.Fatal(err)
	}
	var host record.Host
	if err := json.Unmarshal(text, &host.Values); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"rdma mlx5_0 port 1: ACTIVE, Ethernet, 100 Gb/sec (4X EDR), on ens1f0, RDMA MTU 1024, GIDs 0 fe80::ae1f:6bff:fe00:1, 3 10.1.0.73, firmware 12.22.1002, NUMA node 1",
		"gpu 0: Tesla P100-PCIE-16GB, 0000:02:00.0, NUMA node 0",
	}
	if got := Devices(host); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := Devices(record.Host{Values: map[string]string{"rdma.mlx5_0.driver": "mlx5_core", "gpu.count": "1"}}); got != nil {
		t.Errorf("a device without ports, a GPU without a bus: %q", got)
	}
}
