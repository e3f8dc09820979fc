package main

import (
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
)

// The trials in which somebody stands still: warm-up, window, and for how long.
const (
	freezeWarmup = 600 * time.Millisecond
	freezeWindow = 1600 * time.Millisecond
	frozenFor    = 800 * time.Millisecond
)

// freeze is one worker of a trial that is stopped once.
type freeze struct {
	name string
	of   contract.Role
	tick int // of the client, 200 ms after the one before, with which it is stopped
	load []string
}

var (
	openLoop   = []string{"rate=200", "connections=8"}
	closedLoop = []string{"connections=4"}
)

// The ends of these trials are programs of their own, so that each can be told.
var programOf = map[contract.Role]string{contract.Server: "netdyno-worker-grpc", contract.Client: "netdyno-worker-connect"}

// stop sends a worker SIGSTOP, and SIGCONT after a while.
func (f freeze) stop(t *testing.T, mine family, done *sync.WaitGroup) {
	for _, line := range mine.living(t) {
		words := strings.Fields(line) // a meter's line names the worker too, behind its own
		pid, err := strconv.Atoi(words[0])
		if err != nil || !strings.HasSuffix(words[1], programOf[f.of]) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		done.Go(func() {
			time.Sleep(frozenFor) // what is injected, and waited for by nobody
			_ = syscall.Kill(pid, syscall.SIGCONT)
		})
		return
	}
	t.Errorf("no %s runs", programOf[f.of])
}

// Whoever stands still, and whenever: no rate of such a trial is a valid figure.
func TestNoRateOfAFrozenWorkerIsValid(t *testing.T) {
	mine := newFamily(t)
	name, value, _ := strings.Cut(string(mine), "=")
	t.Setenv(name, value)
	catalog := bench.Discover(t.Context(), []string{installed(t)})
	for _, f := range []freeze{
		{"client across the opening, open loop", contract.Client, 2, openLoop},
		{"client across the opening, closed loop", contract.Client, 2, closedLoop},
		{"client across the closing, open loop", contract.Client, 9, openLoop},
		{"server across the opening, open loop", contract.Server, 2, openLoop},
		{"server across the closing, closed loop", contract.Server, 9, closedLoop},
	} {
		t.Run(f.name, func(t *testing.T) {
			b := benchtest.In(installed(t), &catalog)
			var done sync.WaitGroup
			defer done.Wait()
			ticks := 0
			b.Observe = func(e bench.Event) {
				if e.Tick == nil {
					return
				}
				if ticks++; ticks == f.tick {
					f.stop(t, mine, &done)
				}
			}
			levels := append([]string{"server=go-grpc", "client=go-connect-grpc", "request=100B", "blocks=1",
				"warmup=" + freezeWarmup.String(), "window=" + freezeWindow.String()}, f.load...)
			_, seen := conduct(t, b, levels)
			if seen.Status != finding.Valid && seen.Status != finding.StatusInvalid {
				t.Fatalf("%s: %s", seen.Status, seen.Reason)
			}
			rate, has := seen.Values["exchanges_per_s"]
			if seen.Status == finding.Valid && has {
				t.Errorf("valid at %.4g exchanges/s with flags %v: %s", rate, seen.Flags, seen.Reason)
			}
			t.Logf("%s: %s", seen.Status, seen.Reason)
			mine.mustEnd(t)
		})
	}
}
