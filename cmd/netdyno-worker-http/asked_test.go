package main

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// driven has a client of this worker make the amount of its setup.
func driven(t *testing.T, setup contract.Setup) contract.Counts {
	t.Helper()
	b := workertest.Start(t, all...)
	b.Setup(setup)
	b.Start()
	return b.Expect("result").Result.Counts
}

func TestRequestsAreAsTheUserSays(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", client, encrypted), func(t *testing.T) {
				t.Parallel()
				workertest.RequestsAreAsTheUserSays(t, client, client == "go-http2", encrypted, driven)
			})
		}
		t.Run(client+"/paths", func(t *testing.T) {
			t.Parallel()
			workertest.PathsTakeTurns(t, client, client == "go-http2", driven)
		})
	}
}

func TestOptionsOfARequestAreChecked(t *testing.T) {
	t.Parallel()
	for option, c := range map[string]struct {
		value any
		want  string
	}{
		"method":  {"GET it", "is not a method"},
		"headers": {"X-Key", "expected Name: value"},
		"host":    {"a b", "is not a host"},
		"body":    {"too long", "the factor request says 1"},
		"cert":    {"client.pem", "key is not; expected both"},
		"ca":      {"/nowhere.pem", "no such file"},
	} {
		for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
			setup := contract.Setup{
				Transport: client, Role: contract.Client, Peers: []string{"127.0.0.1:9"}, Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1},
				Load: contract.Load{Connections: 1}, Options: map[string]any{option: c.value}, TLS: &contract.TLS{Authorities: workertest.Certificate(t).Authorities},
			}
			if e := workertest.Refused(t, all, setup); e.Kind != contract.SetupFailed || !strings.Contains(e.Text, c.want) {
				t.Errorf("%s of %s: %+v, want %q", option, client, e, c.want)
			}
		}
	}
}
