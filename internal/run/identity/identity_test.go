package identity

import (
	"slices"
	"testing"
)

// A certificate of a server that listens everywhere holds for every address of
// its host.
func TestCertificatesNameWhereClientsConnect(t *testing.T) {
	for address, want := range map[string]string{"0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "10.0.0.1": "10.0.0.1"} {
		ips, _ := namesFor(address)
		found := false
		for _, ip := range ips {
			found = found || ip.String() == want
		}
		if !found {
			t.Errorf("a certificate for %s names %v, want %s among them", address, ips, want)
		}
	}
	if _, names := namesFor("server.example"); !slices.Contains(names, "server.example") {
		t.Errorf("a certificate for a name holds for %v", names)
	}
}
