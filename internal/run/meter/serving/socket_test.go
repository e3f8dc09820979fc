package serving

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who listens at a Unix socket is read as its server; where nobody does, why is said.
func TestWhoListensAtAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sock")
	if _, err := Socket(path); err == nil || !strings.Contains(err.Error(), "start the server first") {
		t.Errorf("nobody's socket: %v", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	found, err := Socket(path)
	if err != nil || len(found.PIDs) != 1 || found.PIDs[0] != os.Getpid() {
		t.Errorf("found %+v, %v; want process %d", found, err, os.Getpid())
	}
}
