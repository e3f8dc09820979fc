package nethttp

import (
	"context"
	"net/http"
	"testing"

	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/worker/workertest"
)

// A connection of HTTP/1.1 says when a reply's bytes were read where the trial asks for stages,
// and only there.
func TestConnectionsSayWhenBytesWereRead(t *testing.T) {
	for _, stages := range []bool{true, false} {
		a := arms[0]
		setup := a.setup()
		setup.Stages, setup.Peers = stages, []string{a.server(t)}
		setup.Options = workertest.WithDefaults(httpwire.EventOptions(), setup.Options)
		c, err := newClient(setup, Plan{OneAtATime: true, Pool: PoolOwn, Transport: func() *http.Transport { return &http.Transport{Protocols: a.protocols()} }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if err := c.Verify(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		now := load.Now()
		if said := c.Arrival(0).Last() < now; said != stages {
			t.Errorf("stages %v: the connection says so: %v", stages, said)
		}
	}
}
