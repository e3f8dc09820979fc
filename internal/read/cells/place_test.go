package cells

import (
	"testing"

	"netdyno/internal/record"
)

// Where a run took place names the link that lay between its ends, not the rig's name.
func TestPlaceNamesTheLink(t *testing.T) {
	for _, c := range []struct {
		rig  string
		hold map[string]string
		want string
	}{
		{"netns:2", map[string]string{"link.rate": "1Gbit/s"}, "a link of 1 Gbit/s between two namespaces of one host"},
		{"netns:2?mtu=9000", map[string]string{"link.rate": "max", "link.delay": "10ms", "link.loss": "1%"}, "a link between two namespaces of one host, 10 ms of delay each way, 1% of loss, MTU 9000"},
		{"netns:3", map[string]string{"link.rate": "100Mbit/s", "link.delay": "0s"}, "links of 100 Mbit/s between 3 namespaces of one host"},
		{"ssh:node1,node2", nil, "rig ssh:node1,node2"},
		{"ssh:node1.a.very.long.domain,node2.a.very.long.domain", nil, "rig ssh"},
		{"loopback", nil, "loopback, 4 CPUs"},
		{"", nil, ""},
	} {
		h := record.Header{Study: record.Study{Hold: c.hold}, Facts: record.Facts{Rig: c.rig, Seats: map[string]record.Host{"server": {Values: map[string]string{"cpu.count": "4"}}}}}
		if got := Place(PlanOf(h), h.Facts); got != c.want {
			t.Errorf("%s at %v: %q, want %q", c.rig, c.hold, got, c.want)
		}
	}
}
