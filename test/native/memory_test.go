package native_test

import (
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/contract"
)

// A worker that is given no more memory says that it cannot set the trial up: it is
// not the worker's mistake.
func TestNoMoreMemoryIsNoBug(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"asio", "libevent", "threads", "uring"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			path := program(t, transport)
			limited := filepath.Join(t.TempDir(), "limited")
			// In KiB of addresses: some times what the worker has at its beginning, and less
			// than one message.
			if err := os.WriteFile(limited, []byte("#!/bin/sh\nulimit -v 600000\nexec "+path+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			e := startProgram(t, transport, limited)
			const message = 900_000_000
			e.send(contract.Message{Setup: &contract.Setup{
				Trial: "memory", Transport: transport, Role: contract.Client, Seed: 1, Peers: []string{"127.0.0.1:1"},
				Exchange: contract.Exchange{UpBytes: message, DownBytes: message}, Load: contract.Load{Connections: 1},
			}})
			e.fatal(contract.SetupFailed)
		})
	}
}
