package main

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"
)

// The tests' program is a server of this package's when it is called to be one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == unequalServer {
		if serveUnequal(os.Args[2]) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A server computes and holds as long as it was told, on one connection after another.
func TestUnequalServers(t *testing.T) {
	for _, u := range []unequal{{iterations: int(20e3 * iterationsPerUs())}, {held: 20 * ms, percent: 100}} {
		url, stop, err := u.start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			begun := time.Now()
			reply, err := http.Get(url)
			if err != nil || reply.StatusCode != http.StatusOK {
				t.Fatalf("%+v answers %v: %v", u, reply, err)
			}
			_ = reply.Body.Close()
			if took := time.Since(begun); took < 20*ms*9/10 { // no clock is so far off
				t.Errorf("%+v answers after %s; want 20 ms at least", u, took)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}
