package truth

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echoes listens and returns what comes, until the test ends.
func echoes(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_, _ = io.Copy(c, c) // the relay ends it
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// through returns a connection to an echo server behind a relay.
func through(t *testing.T, inject Injection) net.Conn {
	t.Helper()
	relay, err := NewRelay(echoes(t), inject)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := relay.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := net.Dial("tcp", relay.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// What goes in comes out, all of it and in order, also when what follows has the
// shorter delay.
func TestRelayKeepsBytesInOrder(t *testing.T) {
	for _, inject := range []Injection{{}, {Common: time.Millisecond, Rare: 20 * time.Millisecond, RareEvery: 3, Jitter: 0.5}} {
		c := through(t, inject)
		sent := make([]byte, 1<<20)
		for i := range sent {
			sent[i] = byte(i * i >> 8)
		}
		go func() {
			for at := 0; at < len(sent); at += 4096 {
				if _, err := c.Write(sent[at : at+4096]); err != nil {
					return // the reader below finds what is missing
				}
			}
			_ = c.(*net.TCPConn).CloseWrite()
		}()
		came, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(came, sent) {
			t.Errorf("%d bytes came back of %d, or others: %v", len(came), len(sent), err)
		}
	}
}

// No byte is early: an exchange takes its own delay at least, counted from 1.
func TestRelayHoldsEachExchange(t *testing.T) {
	inject := Injection{Common: 5 * time.Millisecond, Rare: 30 * time.Millisecond, RareEvery: 4, StallAt: 6, Stall: 100 * time.Millisecond}
	c := through(t, inject)
	for n := int64(1); n <= 8; n++ {
		want := inject.delay(n)
		if n == inject.StallAt {
			want = inject.Stall // it begins with this exchange, which cannot pass before its end
		}
		begun := time.Now()
		if _, err := c.Write([]byte{byte(n)}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < want {
			t.Errorf("exchange %d took %v, want %v at least", n, took, want)
		}
	}
}
