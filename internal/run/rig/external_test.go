package rig

import (
	"slices"
	"strings"
	"testing"
)

func TestAtKnowsItsPeersAndItsOwnAddress(t *testing.T) {
	at, err := NewExternal(t.Context(), []string{"127.0.0.1:8080", "localhost:8081"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if at.Name() != "at:127.0.0.1:8080,localhost:8081" {
		t.Errorf("it is called %s", at.Name())
	}
	if peers := at.Peers(); len(peers) != 2 || peers[0] != "127.0.0.1:8080" || !strings.HasSuffix(peers[1], ":8081") || strings.Contains(peers[1], "localhost") {
		t.Errorf("clients connect to %v, want 127.0.0.1:8080 and the address of localhost", peers)
	}
	hosts := at.Hosts()
	if len(hosts) != 1 || hosts[0].Address != "127.0.0.1" || len(hosts[0].Prefix) > 0 {
		t.Fatalf("places %+v, want this host alone", hosts)
	}
	if sources, err := hosts[0].SourcesFor(3); err != nil || !slices.Contains(sources, "127.0.0.3") {
		t.Errorf("clients over loopback connect from %v (%v), want as many addresses as they need", sources, err)
	}
}

func TestAtRefuses(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"", "expected HOST:PORT"},
		{"10.0.0.1", "expected HOST:PORT"},
		{":8080", "expected HOST:PORT"},
		{"127.0.0.1:0", "expected a number from 1 to 65535"},
		{"127.0.0.1:65536", "expected a number from 1 to 65535"},
		{"no-such-host.invalid:80", "find no-such-host.invalid:80"},
	} {
		if _, err := NewExternal(t.Context(), []string{c.address}, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error that says %q", c.address, err, c.want)
		}
	}
	if _, err := NewExternal(t.Context(), make([]string, maxPeers+1), ""); err == nil {
		t.Error("any number of addresses is taken")
	}
}

// Without a server here the clients have all CPUs.
func TestLoneSeatsHaveAllCPUs(t *testing.T) {
	hosts := []Host{{Name: "local", CPUs: []int{0, 1, 2, 3}}}
	for placement, want := range map[string][]int{"separate": {0, 1, 2, 3}, "shared": {0, 1, 2, 3}, "free": nil} {
		seats, err := ClientSeats(hosts, placement, 2)
		if err != nil || len(seats) != 2 {
			t.Fatalf("%s: %d seats (%v), want 2", placement, len(seats), err)
		}
		for _, s := range seats {
			if !slices.Equal(s.CPUs, want) {
				t.Errorf("%s: a worker has CPUs %v, want %v", placement, s.CPUs, want)
			}
		}
	}
	if _, err := ClientSeats(hosts, "aprat", 1); err == nil {
		t.Error("an unknown placement is taken")
	}
}
