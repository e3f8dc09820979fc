package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
)

// Servers behind a service listen on ports of its row in turn, and other hosts are told
// the service's address.
func TestServersBehindAService(t *testing.T) {
	host := rig.Host{Name: "pod1", Address: "10.0.0.1", Front: "10.96.0.7", Ports: []int{80, 81, 82, 83}}
	tr := &trial{bench: &Bench{}, serverSeat: rig.Seat{Host: host}, servers: make([]*conversation, 2)}
	for _, want := range []string{"10.0.0.1:80 10.0.0.1:81", "10.0.0.1:82 10.0.0.1:83", "10.0.0.1:80 10.0.0.1:81"} {
		all, err := tr.listenServers(contract.Setup{})
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].Listen + " " + all[1].Listen; got != want {
			t.Errorf("servers listen at %s, want %s", got, want)
		}
	}
	if _, err := tr.listenServers(contract.Setup{Listeners: 3}); err == nil || !strings.Contains(err.Error(), "pod1 has 4 ports by which a service reaches it, and 6 are needed") {
		t.Errorf("more ports than there are: %v", err)
	}
	here, there := rig.Seat{Host: host}, rig.Seat{Host: rig.Host{Name: "pod2"}}
	if got := fronted(host, []string{"10.0.0.1:80"}, there); got[0] != "10.96.0.7:80" {
		t.Errorf("another host is told %s", got)
	}
	if got := fronted(host, []string{"10.0.0.1:80"}, here); got[0] != "10.0.0.1:80" {
		t.Errorf("the host itself is told %s", got)
	}
	if got, err := new(Bench).listenAt(rig.Host{Address: "::1"}, 3); err != nil || got != "[::1]:0" {
		t.Errorf("without a row it listens at %s, %v", got, err)
	}
}
