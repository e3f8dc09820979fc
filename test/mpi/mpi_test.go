// Package mpi_test runs trials of the workers on MPI as netdyno does: two ranks that
// nobody's mpirun starts, on loopback and between namespaces. It skips what no worker
// was built for.
package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/test/programs"
	"netdyno/test/trials"
)

// mpiTransports are the two builds of the same worker.
var mpiTransports = []string{"mpi", "mpich"}

// mpiBench is a bench over copies of a transport's worker, which are told from
// others by their path. Without its library, the test is skipped.
func mpiBench(t *testing.T, transport string) (*bench.Bench, string) {
	t.Helper()
	worker := "netdyno-worker-" + transport
	bin := filepath.Dir(programs.Path(t, worker))
	own := t.TempDir()
	if err := programs.Copy(worker, own); err != nil {
		t.Fatal(err)
	}
	catalog := bench.Discover(t.Context(), []string{own})
	return session.BenchOf(bin, &catalog), filepath.Join(own, worker)
}

// A fixed amount closes its books however busy the machine is.
var mpiWork = []string{"connections=2", "inflight=4", "amount=200", "request=64KiB", "response=1KiB", "blocks=1"}

func pathOf(t *testing.T, r record.Record) contract.Path {
	t.Helper()
	for _, w := range r.Workers {
		if w.Name == "client-1" && w.Ready != nil && w.Ready.Path != nil {
			return *w.Ready.Path
		}
	}
	t.Fatalf("no client's ready has a path; the trial's failure is %+v", r.Failure)
	return contract.Path{}
}

// The messages take the way that was asked for, in all streams.
func TestMPITakesTheWayAskedFor(t *testing.T) {
	before := leftovers(t)
	for _, transport := range mpiTransports {
		t.Run(transport, func(t *testing.T) {
			b, _ := mpiBench(t, transport)
			for _, c := range [][]string{
				{"opt.fabric=tcp"},
				{"opt.fabric=shm"},
				{"opt.fabric=tcp", "stream=up", "chunk=16KiB"},
				{"opt.fabric=shm", "stream=both", "chunk=16KiB"},
				{"opt.fabric=shm", "stream=up", "connections=3", "request=1000B", "chunk=64B"},
				{"opt.fabric=shm", "stream=down", "connections=3", "response=1000B", "chunk=64B", "request=1B"},
			} {
				args := slices.Concat([]string{"transport=" + transport}, later(mpiWork, c))
				r, judged := trials.First(t, b, args...)
				if judged.Status != trial.Valid {
					t.Errorf("%v: %s: %s", c, judged.Status, judged.Reason)
					continue
				}
				if got, want := pathOf(t, r), strings.TrimPrefix(c[0], "opt.fabric="); got.Over != want || got.By == "" {
					t.Errorf("%v: the messages went over %q by %q, want %q", c, got.Over, got.By, want)
				}
			}
		})
	}
	nothingLeft(t, before)
}

// later joins levels, of which a later one of a factor replaces an earlier one.
func later(levels, more []string) []string {
	key := func(level string) string { name, _, _ := strings.Cut(level, "="); return name }
	return append(slices.DeleteFunc(slices.Clone(levels), func(l string) bool {
		return slices.ContainsFunc(more, func(m string) bool { return key(m) == key(l) })
	}), more...)
}

// Between two namespaces of one kernel the libraries see no common memory, and a
// trial that asks for it says why there is none.
func TestMPIBetweenNamespaces(t *testing.T) {
	before := leftovers(t)
	for _, transport := range mpiTransports {
		t.Run(transport, func(t *testing.T) {
			b, _ := mpiBench(t, transport)
			on, err := namespaces.Build(namespaces.Options{Hosts: 2})
			if err != nil {
				t.Skipf("no namespaces here: %v", err)
			}
			b.Rig = on
			for _, fabric := range []string{"auto", "tcp", "ucx"} {
				r, judged := trials.First(t, b, append(mpiWork, "transport="+transport, "opt.fabric="+fabric)...)
				if judged.Status != trial.Valid {
					t.Errorf("%s: %s: %s", fabric, judged.Status, judged.Reason)
				} else if got := pathOf(t, r); got.Over != "tcp" {
					t.Errorf("%s: the messages went over %q by %q", fabric, got.Over, got.By)
				}
			}
			r, judged := trials.First(t, b, append(mpiWork, "transport="+transport, "opt.fabric=shm")...)
			if judged.Status != trial.StatusUnsupported || !strings.Contains(r.Failure.Text, "the ends share no memory") {
				t.Errorf("shm is %s: %+v", judged.Status, r.Failure)
			}
			if err := on.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	nothingLeft(t, before)
}

// underWindow tells when a client's load has run for some ticks.
type underWindow struct {
	once sync.Once
	here chan struct{}
}

func (u *underWindow) observe(e bench.Event) {
	if e.Tick != nil && e.Tick.Exchanges > 0 {
		u.once.Do(func() { close(u.here) })
	}
}

// A rank that is killed under load leaves a failed record that names it, and
// nothing else: no process, no file.
func TestMPILostRank(t *testing.T) {
	before := leftovers(t)
	for _, transport := range mpiTransports {
		for _, name := range []string{"server", "client-1"} {
			for _, fabric := range []string{"tcp", "shm"} {
				t.Run(fmt.Sprintf("%s %s %s", transport, fabric, name), func(t *testing.T) {
					b, path := mpiBench(t, transport)
					load := underWindow{here: make(chan struct{})}
					b.Observe = load.observe
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					var killing sync.WaitGroup
					killing.Go(func() {
						select {
						case <-load.here:
						case <-ctx.Done():
							return
						}
						victims := slices.DeleteFunc(processesOf(path), func(pid int) bool { return serves(pid) != (name == "server") })
						for _, pid := range victims {
							_ = syscall.Kill(pid, syscall.SIGKILL) // the record tells whether it was there
						}
					})
					r, judged := trials.First(t, b, "transport="+transport, "opt.fabric="+fabric, "stream=up", "request=4MiB",
						"response=1B", "chunk=64KiB", "connections=1", "blocks=1", "warmup=10ms", "window=60s")
					stop()
					killing.Wait()
					if judged.Status != trial.StatusFailed || r.Failure.Worker != name || !strings.Contains(r.Failure.Text, "status 137") {
						t.Errorf("the trial is %s: %+v", judged.Status, r.Failure)
					}
					if left := processesOf(path); len(left) > 0 {
						t.Errorf("processes %v are left", left)
					}
				})
			}
		}
	}
	nothingLeft(t, before)
}

// serves tells whether a rank is the server's, which alone has a thread for PMI.
func serves(pid int) bool {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	return slices.ContainsFunc(names, func(path string) bool {
		name, err := os.ReadFile(path)
		return err == nil && string(name) == "pmi\n"
	})
}

// processesOf returns the processes that run a program.
func processesOf(path string) []int {
	var all []int
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// leftovers are the files that MPI's libraries leave where they must end in a hurry.
func leftovers(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/dev/shm/*", "/tmp/ompi*", "/tmp/netdyno-mpi*", "/tmp/openmpi*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	return all
}

// nothingLeft waits for files that are not ours to go: tests of UCX beside these have theirs
// in the same place, for as long as they run.
func nothingLeft(t *testing.T, before []string) {
	t.Helper()
	left := func() []string {
		return slices.DeleteFunc(leftovers(t), func(file string) bool {
			_, err := os.Stat(file)
			return slices.Contains(before, file) || errors.Is(err, os.ErrNotExist)
		})
	}
	files := left()
	for deadline := time.Now().Add(time.Minute); len(files) > 0 && time.Now().Before(deadline); files = left() {
		time.Sleep(50 * time.Millisecond)
	}
	for _, file := range files {
		t.Errorf("%s is left", file)
	}
}
