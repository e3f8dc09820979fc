package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
	"netdyno/test/trials"
)

// The trials in which somebody stands still: warm-up, window, and for how long.
const (
	freezeWarmup = 600 * time.Millisecond
	freezeWindow = 2400 * time.Millisecond
	frozenFor    = 1200 * time.Millisecond
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
	closedLoop = []string{"connections=4", "think=2ms"}
)

// The ends of these trials are programs of their own, so that each can be told.
var programOf = map[contract.Role]string{contract.Server: "netdyno-worker-grpc", contract.Client: "netdyno-worker-connect"}

// stop halts a worker with its meter, which would tell of a worker that is stopped
// alone, and lets both go on after a while: to the trial, as if their host had
// stood still.
func (f freeze) stop(t *testing.T, mine family, done *sync.WaitGroup) {
	stopEnd(t, mine, programOf[f.of], frozenFor, done)
}

// stopEnd halts the worker of a program with its meter for a while.
func stopEnd(t *testing.T, mine family, program string, length time.Duration, done *sync.WaitGroup) {
	var worker, meter int
	for _, line := range mine.living(t) {
		words := strings.Fields(line)
		pid, err := strconv.Atoi(words[0])
		switch {
		case err != nil || !strings.Contains(line, program):
		case strings.HasSuffix(words[1], program):
			worker = pid
		case strings.HasSuffix(words[1], session.HostProgram):
			meter = pid
		}
	}
	if worker == 0 || meter == 0 {
		t.Errorf("of %s runs worker %d and meter %d", program, worker, meter)
		return
	}
	for _, pid := range []int{meter, worker} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
	}
	done.Go(func() {
		time.Sleep(length) // what is injected, and waited for by nobody
		_ = syscall.Kill(worker, syscall.SIGCONT)
		_ = syscall.Kill(meter, syscall.SIGCONT)
	})
}

func installedWorkers(t *testing.T) *bench.Catalog {
	t.Helper()
	catalog := bench.Discover(t.Context(), []string{installed(t)})
	return &catalog
}

// Whoever stands still, and whenever: no rate of such a trial is a valid figure.
func TestNoRateOfAFrozenWorkerIsValid(t *testing.T) {
	t.Parallel()
	catalog := installedWorkers(t)
	for _, f := range []freeze{
		{"client across the opening, open loop", contract.Client, 2, openLoop},
		{"client across the opening, closed loop", contract.Client, 2, closedLoop},
		{"client across the closing, open loop", contract.Client, 13, openLoop},
		{"server across the opening, open loop", contract.Server, 2, openLoop},
		{"server across the closing, closed loop", contract.Server, 13, closedLoop},
		{"client inside, open loop", contract.Client, 4, openLoop},
		{"client inside, closed loop", contract.Client, 4, closedLoop},
		{"server inside, open loop", contract.Server, 4, openLoop},
		{"server inside, closed loop", contract.Server, 4, closedLoop},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			mine := newFamily(t)
			seen := frozen(t, benchOf(t, mine, catalog), f.tick, func(done *sync.WaitGroup) { f.stop(t, mine, done) },
				append([]string{"server=go-grpc", "client=go-connect-grpc", "request=100B"}, f.load...)...)
			withoutRates(t, seen)
			mine.mustEnd(t)
		})
	}
}

// A short standstill takes the rate of a closed loop too, whichever end it is and whoever's
// program.
func TestNoRateOfAShortFreezeIsValid(t *testing.T) {
	t.Parallel()
	catalog := installedWorkers(t)
	goEnds := []string{"server=go-grpc", "client=go-connect-grpc"}
	script, err := filepath.Abs("testdata/server.py")
	if err != nil {
		t.Fatal(err)
	}
	foreign := []string{"server=exec", "client=go-epoll", "opt.server.command=python3 " + script + " {port} plain"}
	for _, c := range []struct {
		name   string
		of     string // a worker's program; else words of a program's command line
		length time.Duration
		window string
		ends   []string
	}{
		{"client, a tenth of 1 s", "netdyno-worker-connect", 100 * time.Millisecond, "1s", goEnds},
		{"client, a tenth of 2 s", "netdyno-worker-connect", 200 * time.Millisecond, "2s", goEnds},
		{"client, a fifth of 2 s", "netdyno-worker-connect", 380 * time.Millisecond, "2s", goEnds},
		{"server, a tenth of 2 s", "netdyno-worker-grpc", 200 * time.Millisecond, "2s", goEnds},
		{"program of another's, a tenth of 2 s", "python3 " + script, 200 * time.Millisecond, "2s", foreign},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mine := newFamily(t)
			stop := func(done *sync.WaitGroup) {
				if strings.HasPrefix(c.of, "netdyno-") {
					stopEnd(t, mine, c.of, c.length, done)
				} else {
					stopProgram(t, mine, c.of, c.length, done)
				}
			}
			seen := frozenAt(t, benchOf(t, mine, catalog), 4, stop, append([]string{"request=100B", "connections=4", "warmup=600ms", "warmup_max=600ms", "window=" + c.window}, c.ends...)...)
			if seen.Status == trial.StatusFailed || seen.Status == trial.StatusUnsupported {
				t.Fatalf("%s: %s", seen.Status, seen.Reason)
			}
			withoutRates(t, seen)
			mine.mustEnd(t)
		})
	}
}

// frozen runs a trial in which something is stopped at a tick, and waits until it
// goes on.
func frozen(t *testing.T, b *bench.Bench, tick int, stop func(*sync.WaitGroup), levels ...string) trial.Trial {
	t.Helper()
	return frozenAt(t, b, tick, stop, append(levels, "warmup="+freezeWarmup.String(), "warmup_max="+freezeWarmup.String(), "window="+freezeWindow.String())...)
}

// frozenAt makes the trial again where a busy machine swallowed the tick, or came so late with
// it or with the stop that another part of the trial would have been hit.
func frozenAt(t *testing.T, b *bench.Bench, tick int, stop func(*sync.WaitGroup), levels ...string) trial.Trial {
	t.Helper()
	const apart, late = 200 * time.Millisecond, 180 * time.Millisecond
	var seen trial.Trial
	trials.Repeat(func() bool {
		var done sync.WaitGroup
		defer done.Wait()
		var ticks atomic.Int64
		var hit atomic.Bool
		var first time.Time
		b.Observe = func(e bench.Event) {
			if e.Tick == nil {
				return
			}
			n := int(ticks.Add(1))
			if n == 1 {
				first = time.Now()
			}
			if due := time.Duration(tick-1) * apart; n == tick && time.Since(first) < due+late {
				stop(&done)
				hit.Store(time.Since(first) < due+late)
			}
		}
		_, seen = conduct(t, b, append(levels, "blocks=1"))
		return !hit.Load()
	})
	return seen
}

// withoutRates demands of a trial that no rate of it is a valid figure.
func withoutRates(t *testing.T, seen trial.Trial) {
	t.Helper()
	rate, has := seen.Values.Of("exchanges_per_s")
	switch {
	case seen.Status == trial.StatusUnsupported:
		t.Fatalf("%s: %s", seen.Status, seen.Reason)
	case seen.Status == trial.Valid && has:
		t.Errorf("valid at %.4g exchanges/s with flags %v: %s", rate, seen.Flags, seen.Reason)
	}
	t.Logf("%s, stood still %v: %s", seen.Status, seen.Stalls, seen.Reason)
}

// A server that is nobody's of ours pauses inside the window: that is its own time, a
// figure like any other.
func TestAForeignServerThatPausesKeepsItsFigures(t *testing.T) {
	script, err := filepath.Abs("testdata/stalls.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	catalog := installedWorkers(t)
	for _, load := range []string{"rate=500", "think=5ms"} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			b := benchOf(t, newFamily(t), catalog)
			// 600 messages are sent in less than half of the time until the close.
			levels := []string{"server=exec", "client=go-net", "opt.server.command=python3 " + script + " {port} 60000 0.8",
				"request=100B", "connections=4", load, "warmup=600ms", "warmup_max=600ms", "window=2500ms", "blocks=1"}
			var seen trial.Trial
			trials.Repeat(func() bool {
				_, seen = conduct(t, b, levels)
				return trials.Disturbed(seen.Reason)
			})
			if _, rated := seen.Values.Of("exchanges_per_s"); seen.Status != trial.Valid || len(seen.Stalls) > 0 || !rated {
				t.Errorf("%s with stalls %v, rated %v: %s", seen.Status, seen.Stalls, rated, seen.Reason)
			}
			if p99 := seen.Values.At("response_p99_us"); strings.HasPrefix(load, "rate") && p99 < 400_000 {
				t.Errorf("the response times' p99 is %v µs: it does not hold the 0.8 s", p99)
			}
		})
	}
}

// A signal that holds a program that measures itself is none of the program's doing.
func TestAToolThatStandsStillLeavesNoRate(t *testing.T) {
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip("iperf3 is not on PATH")
	}
	t.Parallel()
	catalog := installedWorkers(t)
	for _, stream := range []string{"up", "down"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			mine := newFamily(t)
			seen := frozen(t, benchOf(t, mine, catalog), 4, func(done *sync.WaitGroup) { stopProgram(t, mine, "iperf3 --server", frozenFor, done) },
				"transport=iperf3", "connections=1", "stream="+stream, "request=1MiB", "response=1MiB")
			withoutRates(t, seen)
			mine.mustEnd(t)
		})
	}
}

// stopProgram halts the one program of a test whose command line has these words,
// and lets it go on after a while.
func stopProgram(t *testing.T, mine family, words string, length time.Duration, done *sync.WaitGroup) {
	for _, line := range mine.living(t) {
		pid, err := strconv.Atoi(strings.Fields(line)[0])
		if err != nil || !strings.Contains(line, words) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		done.Go(func() {
			time.Sleep(length) // what is injected, and waited for by nobody
			_ = syscall.Kill(pid, syscall.SIGCONT)
		})
		return
	}
	t.Errorf("no %q runs", words)
}
