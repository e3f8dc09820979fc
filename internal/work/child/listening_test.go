package child

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestListening(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err) // a host without IPv6
			continue
		}
		port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		if is, err := listening(port); !is || err != nil {
			t.Errorf("%s: %v, %v; want that it listens", l.Addr(), is, err)
		}
		l.Close()
		if is, err := listening(port); is || err != nil {
			t.Errorf("%s, closed: %v, %v; want that nobody listens", l.Addr(), is, err)
		}
	}
	if _, err := listening("http"); err == nil {
		t.Error("a port without a number is looked for")
	}
}

func TestAwaitListeningGivesUp(t *testing.T) {
	p, err := Launch([]string{"sh", "-c", "echo thinking >&2; exec sleep 60"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.End()
	for p.Output() == "nothing" {
		time.Sleep(time.Millisecond)
	}
	err = p.AwaitListening("1", 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), `does not listen on port 1 after 50ms; it said: "thinking"`) {
		t.Errorf("%v, want that it gave up", err)
	}
}
