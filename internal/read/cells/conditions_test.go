package cells

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// A condition of a published figure may name any limit.
func TestEveryLimitIsAConditionOfAFigure(t *testing.T) {
	var names []string
	for _, l := range trial.Limits() {
		if l != trial.Unknown {
			names = append(names, string(l))
		}
	}
	if want := record.Limits(); !slices.Equal(names, want) {
		t.Errorf("the limits are %q, record.Limits %q", names, want)
	}
}

// A condition may name the CPU without saying whose.
func TestTheLimitCPUIsThatOfAnyCPU(t *testing.T) {
	for _, limit := range record.Limits() {
		want := strings.Contains(limit, "cpu") || strings.Contains(limit, "core")
		if got := satisfies(record.ConditionLimit, limit, record.LimitCPU); got != want {
			t.Errorf("limit %s is a CPU: %v, want %v", limit, got, want)
		}
		if !satisfies(record.ConditionLimit, limit, limit) {
			t.Errorf("limit %s is not itself", limit)
		}
	}
	if satisfies(record.ConditionLimit, "", record.LimitCPU) {
		t.Error("an unknown limit is a CPU")
	}
}

// A real card has a rate of its own; a virtual interface has none.
func TestNominalRateOfTheLink(t *testing.T) {
	host := func(driver, speed string) record.Host {
		return record.Host{Values: map[string]string{"nic.eth0.driver": driver, "nic.eth0.speed_mbit_per_s": speed}}
	}
	s := &Dataset{Facts: record.Facts{Seats: map[string]record.Host{
		"a": host("mlx5_core", "100000"), "b": host("mlx5_core", "100000"), "c": host("ixgbe", "10000"), "v": host("veth", "10000"), "u": host("virtio_net", ""),
	}}}
	for through, want := range map[string]string{
		"a/eth0 b/eth0": "100Gbit/s", "a/eth0 c/eth0": unlimited, "v/eth0": unlimited, "u/eth0": unlimited, "a/eth1": unlimited, "": unlimited,
	} {
		views := []*trial.Judged{{Traffic: trial.LinkTraffic{Through: through}}}
		if got, ok := conditionHere(s, linkRate, views); got != want || !ok {
			t.Errorf("%q: %q, want %q", through, got, want)
		}
	}
	shaped := &trial.Judged{Plan: record.Trial{Levels: map[string]string{linkRate: "1Gbit/s"}}, Traffic: trial.LinkTraffic{Through: "a/eth0"}}
	if got, _ := conditionHere(s, linkRate, []*trial.Judged{shaped}); got != "1Gbit/s" {
		t.Errorf("a shaped link has the rate %q", got)
	}
}
