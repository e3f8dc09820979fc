package workertest

import (
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// ResultOf runs a client until it has counted enough, for a minute at most, and returns its result.
func ResultOf(t testing.TB, client load.Client, enough func(contract.Counts) bool) contract.Result {
	t.Helper()
	ended := make(chan error)
	client.Load().Start()
	client.Load().Open(load.Now())
	go func() { ended <- client.Run() }()
	for by := time.Now().Add(time.Minute); !enough(client.Load().Counts()) && time.Now().Before(by); {
		time.Sleep(time.Millisecond)
	}
	client.Load().End(load.Now())
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	result, err := client.Load().Result()
	if err != nil {
		t.Fatal(err)
	}
	return result
}
