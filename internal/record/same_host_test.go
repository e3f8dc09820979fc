package record

import (
	"testing"

	"netdyno/internal/contract"
)

func TestSameHost(t *testing.T) {
	const second = 1_000_000_000
	reading := func(boot string, atNs, idleNs int64) *contract.Meter {
		return &contract.Meter{BootID: boot, AtNs: atNs, CPUs: []contract.CPU{{IdleNs: idleNs}}}
	}
	for _, c := range []struct {
		name string
		a, b *contract.Meter
		want bool
	}{
		{"one boot", reading("a", 0, 0), reading("a", second, 90*second), true},
		{"two boots, like counters", reading("a", 0, 0), reading("b", 0, 0), false},
		{"no boot ID, counters as far apart as the time", reading("", 0, 0), reading("", second, second), true},
		{"no boot ID, counters further apart", reading("", 0, 0), reading("", second, 9*second), false},
		{"one boot ID, like counters", reading("a", 0, 0), reading("", second, second), true},
		{"no reading", nil, reading("a", 0, 0), false},
	} {
		if got := SameHost(c.a, c.b); got != c.want {
			t.Errorf("%s: SameHost is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSharesClock(t *testing.T) {
	span := func(seat, boot string) Span {
		return Span{Worker: &Worker{Seat: seat}, From: Edge{Meter: &contract.Meter{BootID: boot}}}
	}
	for _, c := range []struct {
		name string
		a, b Span
		want bool
	}{
		{"two namespaces of one host", span("node1", "a"), span("node2", "a"), true},
		{"two hosts that a rig gave one name", span("node1", "a"), span("node1", "b"), false},
		{"an old record, one seat", span("node1", ""), span("node1", ""), true},
		{"an old record, two seats", span("node1", ""), span("node2", ""), false},
		{"an unmetered worker", Span{Worker: &Worker{Seat: "node1"}}, span("node1", "a"), true},
	} {
		if got := c.a.SharesClock(c.b); got != c.want {
			t.Errorf("%s: SharesClock is %v, want %v", c.name, got, c.want)
		}
	}
}
