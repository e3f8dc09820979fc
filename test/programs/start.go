package programs

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// Hangups lets what tests start end by SIGHUP, though the tests themselves are to ignore it, as
// under nohup.
func Hangups() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

// Start starts somebody's server, waits until it listens at the address and ends
// it, by its process, with the test.
func Start(t testing.TB, address string, argv ...string) {
	t.Helper()
	var said bytes.Buffer
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it is told to end
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt) // it may have ended
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = c.Process.Kill()
			t.Errorf("%s does not end", argv[0])
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close() // it was only to be made
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", argv[0], said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen on %s: %v", argv[0], address, err)
		}
	}
}
