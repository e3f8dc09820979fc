package trial

import (
	"maps"
	"testing"

	"netdyno/internal/record"
)

func TestCardsAreRatedByTheirFacts(t *testing.T) {
	facts := record.Facts{Seats: map[string]record.Host{
		"a": {Values: map[string]string{
			"nic.eth0.speed_mbit_per_s": "100000", "nic.eth0.driver": "mlx5_core",
			"nic.veth1.speed_mbit_per_s": "10000", "nic.veth1.driver": "veth",
			"nic.eth1.speed_mbit_per_s": "-1", "nic.eth2.speed_mbit_per_s": "fast", "cpu.count": "4",
		}},
		"b": {Values: map[string]string{"nic.eth0.speed_mbit_per_s": "2500"}},
	}}
	want := map[string]float64{"a/eth0": 100e9, "b/eth0": 2.5e9}
	if got := cardRates(facts); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
