package wire

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"netdyno/internal/contract"
)

func kindOf(err error) contract.ErrorKind {
	var e *contract.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestRoutesTakeTurns(t *testing.T) {
	setup := contract.Setup{
		Peers: []string{"127.0.0.1:1", "127.0.0.1:2"}, Sources: []string{"127.0.0.3", "127.0.0.4", "127.0.0.5"},
		Load: contract.Load{Connections: 6},
	}
	routes, err := Routes(setup)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Route]bool{}
	for _, r := range routes {
		seen[r] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d different routes of 6: %v", len(seen), routes)
	}
	for key, bad := range map[string]contract.Setup{
		"setup.peers": {}, "setup.peers[1]": {Peers: []string{"127.0.0.1:1", "nowhere"}},
		"setup.sources[0]": {Peers: []string{"127.0.0.1:1"}, Sources: []string{"127.0.0.1:5"}},
	} {
		if _, err := Routes(bad); kindOf(err) != contract.SetupFailed || !strings.Contains(err.Error(), key) {
			t.Errorf("%v, want an error of kind setup about %s", err, key)
		}
	}
}

func TestConnectFailuresSayWhatToDo(t *testing.T) {
	for errno, want := range map[syscall.Errno]struct {
		kind contract.ErrorKind
		hint string
		each bool // the words name the connection
	}{
		syscall.ECONNREFUSED:  {contract.Peer, "nothing listens", true},
		syscall.EMFILE:        {contract.SetupFailed, "ulimit -n", true},
		syscall.EADDRNOTAVAIL: {contract.SetupFailed, "ip_local_port_range", false},
		syscall.ECONNRESET:    {contract.Peer, "reset", true},
	} {
		if err := ConnectFailure(4, 10, Route{}, errno); kindOf(err) != want.kind || !strings.Contains(err.Error(), want.hint) || strings.Contains(err.Error(), "connect 5 of 10") != want.each {
			t.Errorf("%v: %v", errno, err)
		}
	}
}
