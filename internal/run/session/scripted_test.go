package session

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/floor"
	"netdyno/internal/run/meter"
)

// The transports of the scripted worker, which moves nothing and answers at once.
const (
	scripted       = "scripted"        // both ends
	scriptedServer = "scripted-server" // one that waits for clients
)

// TestMain lets this test binary act as netdyno-host
// and as the scripted worker when it is called by such a name.
func TestMain(m *testing.M) {
	switch {
	case strings.HasPrefix(filepath.Base(os.Args[0]), bench.WorkerPrefix):
		work()
	case filepath.Base(os.Args[0]) != HostProgram:
	case os.Args[1] == "facts":
		fmt.Println(`{"host.name": "here", "host.boot_id": "one", "cpu.count": "2", "cpu.usable": "0-1"}`)
		os.Exit(0)
	case os.Args[1] == "floor":
		os.Exit(floorEnd(os.Args[2:]))
	case os.Args[1] == "meter":
		argv := os.Args[slices.Index(os.Args, "--")+1:]
		code, _ := meter.Run(context.Background(), meter.Options{Argv: argv, In: contract.Stdin(), Out: os.Stdout, Err: os.Stderr})
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// floorEnd is an end of the measurement before a run.
func floorEnd(args []string) int {
	if args[0] == "serve" {
		if err := floor.Serve(args[1], args[2], nil, os.Stdout); err != nil {
			return 1
		}
		return 0
	}
	steps, err := floor.Ask(args[1], args[2], nil)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(steps)
	}
	if err != nil {
		return 1
	}
	return 0
}

// work is the scripted worker.
func work() {
	in, out := contract.NewReader(os.Stdin), contract.NewWriter(os.Stdout)
	begun := time.Now()
	say := func(m contract.Message) {
		if err := out.Write(m); err != nil {
			os.Exit(1)
		}
	}
	say(contract.Message{Hello: &contract.Hello{Contract: contract.Version, Worker: scripted, Version: "1", Transports: []contract.Transport{
		{
			Name: scripted, Doc: "answers at once", Wire: "echo", Roles: []contract.Role{contract.Pair}, Delivery: contract.DeliveryChunks,
			Features: []contract.Feature{contract.FeatureSizes, contract.FeatureMix, contract.FeatureTrace, contract.FeatureTimes},
			Options:  []contract.Option{{Name: "says", Type: contract.TypeText, Default: "", FileMax: 100, Doc: "nothing"}},
		},
		{Name: scriptedServer, Doc: "answers at once", Wire: "echo", Roles: []contract.Role{contract.Server}, Delivery: contract.DeliveryChunks},
	}}})
	for {
		m, err := in.Read()
		switch {
		case err != nil:
			os.Exit(0)
		case m.Setup != nil && m.Setup.Role == contract.Server:
			say(contract.Message{Ready: &contract.Ready{Addresses: []string{"127.0.0.1:9"}}})
		case m.Setup != nil:
			say(contract.Message{Ready: &contract.Ready{Connections: m.Setup.Load.Connections, Verified: m.Setup.Load.Connections}})
		case m.Mark != nil:
			reading := &contract.Reading{AtNs: int64(time.Since(begun))}
			say(contract.Message{Mark: &contract.Mark{ID: m.Mark.ID, Reset: m.Mark.Reset, Reading: reading}})
		case m.Stop != nil:
			r := &contract.Result{FromNs: 1, ToNs: 2}
			r.Service, _ = hist.New().Encode() // an empty one encodes
			say(contract.Message{Result: r})
		}
	}
}

// workplace is an empty directory to work in, with the scripted worker on PATH.
// Its worker is a script, so that a test can change it.
func workplace(t *testing.T) (worker string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	bin, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(bin, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(bin, "real", bench.WorkerPrefix+scripted)
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	worker = filepath.Join(bin, bench.WorkerPrefix+scripted)
	if err := os.WriteFile(worker, []byte("#!/bin/sh\nexec "+program+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, HostProgram)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin:/bin")
	return worker
}
