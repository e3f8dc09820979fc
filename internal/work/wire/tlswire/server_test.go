package tlswire

import (
	"errors"
	"net"
	"slices"
	"testing"

	"netdyno/internal/contract"
)

// A server that stopped its library before it closed its ports would leave connections
// that are accepted in between.
func TestServerStopsAfterItsPortsAreClosed(t *testing.T) {
	s, err := NewServer(contract.Setup{Listen: "127.0.0.1:0", Listeners: 2}, contract.Ready{UpBytes: 7})
	if err != nil {
		t.Fatal(err)
	}
	ready := s.Ready()
	if len(ready.Addresses) != 2 || ready.UpBytes != 7 || s.TLS != nil {
		t.Errorf("ready is %+v, TLS %v", ready, s.TLS)
	}
	ends := make(chan string, 3)
	s.Serve(func(l net.Listener) error {
		_, err := l.Accept()
		ends <- "port"
		return err
	}, func() error {
		ends <- "stop"
		return errors.New("stopped")
	})
	if err := s.Close(); err == nil || err.Error() != "stopped" {
		t.Errorf("Close returned %v, want the error of stop", err)
	}
	if got := []string{<-ends, <-ends, <-ends}; !slices.Equal(got, []string{"port", "port", "stop"}) {
		t.Errorf("ended in the order %v", got)
	}
}

func TestServerCounts(t *testing.T) {
	s, err := NewServer(contract.Setup{Listen: "127.0.0.1:0"}, contract.Ready{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Count(100, 10)
	s.CountReceived(50)
	s.Count(0, 5)
	if c := s.Counts(); c.Exchanges != 2 || c.ReceivedBytes != 150 || c.SentBytes != 15 || c.Connections != 0 {
		t.Errorf("counts %+v", c)
	}
}
