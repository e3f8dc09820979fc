package child

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A daemon's child holds the streams that its parent was given.
func TestEndLeavesADaemonToTheMeter(t *testing.T) {
	p, err := Launch([]string{"sh", "-c", "sleep 60 & echo $!"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const atMost = 20 * time.Second
	for deadline := time.Now().Add(atMost); p.Output() == "nothing" && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	pid, err := strconv.Atoi(strings.Trim(p.Output(), `"`))
	if err != nil {
		t.Fatalf("it said %s, want the process ID of its child", p.Output())
	}
	daemon, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := daemon.Kill(); err != nil {
			t.Error(err)
		}
		<-p.Exited()
	}()
	ended := make(chan struct{})
	go func() { p.End(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(atMost):
		t.Errorf("still waiting after %v for what is not the program's own end", atMost)
	}
}
