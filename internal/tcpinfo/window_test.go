package tcpinfo

import (
	"testing"
	"time"
)

// What a peer lets be on the way follows its receive buffer.
func TestPeersWindowIsTold(t *testing.T) {
	client, server := connect(t, "tcp4")
	ports := []uint16{portOf(server.LocalAddr())}
	pass(t, client, server, 1000)
	roomy := one(t, Query{RemotePorts: ports}).PeerWindow
	if roomy == 0 {
		t.Skip("this kernel does not tell the peer's window: older than Linux 5.4")
	}
	if err := server.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write(make([]byte, roomy*3/4)); err != nil {
		t.Fatal(err)
	}
	full := roomy
	for deadline := time.Now().Add(5 * time.Second); full >= roomy && time.Now().Before(deadline); { // until the acknowledgement
		full = one(t, Query{RemotePorts: ports}).PeerWindow
	}
	if full >= roomy {
		t.Errorf("the window of a peer that does not read went from %d to %d bytes, want less", roomy, full)
	}
}
