package main

import (
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/pin"
	"netdyno/test/programs"
)

// echoer starts an echo server with a thread for each connection, and returns its process.
func echoer(t *testing.T) (url string, pid int) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(at)
	script, err := filepath.Abs("testdata/server.py")
	if err != nil {
		t.Fatal(err)
	}
	programs.Start(t, at, "python3", script, port, "plain")
	found, err := meter.Attachable(netip.MustParseAddrPort(at))
	if err != nil || len(found.PIDs) != 1 {
		t.Fatal(found, err)
	}
	return "tcp://" + at, found.PIDs[0]
}

// cpusOf are the sets of CPUs that a process's threads have, each once.
func cpusOf(pid int) []string {
	s, err := pin.Meet([]int{pid})
	if err != nil {
		return nil
	}
	sets := map[string]bool{}
	for _, cpus := range s.Had {
		sets[cpuset.Format(cpus)] = true
	}
	return slices.Sorted(maps.Keys(sets))
}

// However a run ends, its servers get their CPUs back.
func TestPinnedServersGetTheirCPUsBack(t *testing.T) {
	installed(t)
	all := cpuset.Of(0)
	if len(all) < 2 {
		t.Skip("one CPU")
	}
	had, plan := []string{cpuset.Format(all)}, []string{cpuset.Format(all[:len(all)/2])}
	for name, end := range map[string]func(b begun, other int) error{
		"by itself":           func(begun, int) error { return nil },
		"Ctrl-C":              func(b begun, _ int) error { return b.Process.Signal(os.Interrupt) },
		"SIGKILL":             func(b begun, _ int) error { return b.Process.Kill() },
		"with a server's end": func(_ begun, other int) error { return syscall.Kill(other, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, pid := echoer(t)
			second, other := echoer(t)
			b := begin(t, t.TempDir(), url, second, "--pin-server", "client=go-net", "-c", "2", "-d", "3s", "--out", "run")
			await(t, "the servers are held", func() bool {
				return b.ended() || slices.Equal(cpusOf(pid), plan) && slices.Equal(cpusOf(other), plan)
			})
			await(t, "a trial", func() bool {
				text, _ := os.ReadFile(filepath.Join(b.dir, "run", record.RecordsFile)) // there is none at first
				return b.ended() || strings.Contains(string(text), `"trial":`)
			})
			if b.ended() {
				t.Fatalf("it ended:\n%s", b.said)
			}
			if err := end(b, other); err != nil {
				t.Fatal(err)
			}
			await(t, "its end", b.ended)
			await(t, "the CPUs are given back", func() bool { return slices.Equal(cpusOf(pid), had) })
			header, err := record.ReadHeader(filepath.Join(b.dir, "run", record.RecordsFile))
			if err != nil {
				t.Fatal(err)
			}
			got := *header.Facts.Standing
			if got.Threads < 2 {
				t.Errorf("%d threads, want one of each server", got.Threads)
			}
			got.Threads = 0
			if want := (record.Standing{Servers: 2, Plan: all[:len(all)/2], Floats: true, Free: true, Pinned: true}); !reflect.DeepEqual(got, want) {
				t.Errorf("recorded %+v, want %+v", got, want)
			}
			b.mine.mustEnd(t)
			if name == "by itself" && !strings.Contains(b.said.String(), " on CPU "+plan[0]+" for the run, as --pin-server asks\n") {
				t.Errorf("it does not say what was done:\n%s", b.said)
			}
			if name == "Ctrl-C" { // it can be resumed under the same conditions alone
				again := begin(t, b.dir, url, second, "client=go-net", "-c", "2", "-d", "3s", "--out", "run", "--resume")
				await(t, "its refusal", again.ended)
				if said := again.said.String(); again.ProcessState.ExitCode() != statusRefused || !strings.Contains(said, "--pin-server=true") {
					t.Errorf("resumed without the flag: %s", said)
				}
			}
		})
	}
}

// What cannot be pinned is refused before anything is measured, and nothing stays pinned.
func TestServersThatCannotBePinned(t *testing.T) {
	t.Parallel()
	installed(t)
	url, pid := echoer(t)
	before := cpusOf(pid)
	for want, argv := range map[string][]string{
		"--pin-server: placement=shared gives servers no CPUs": {url, "--pin-server", "placement=shared"},
		"--pin-server goes with servers of this host":          {url, "--pin-server", "--rig", "netns:2"},
		"--pin-server goes with a URL":                         {"run", "transport=null", "--pin-server"},
		"[pin-server proxy]":                                   {url, "--pin-server", "-x", "127.0.0.1:1"},
	} {
		b := begin(t, t.TempDir(), append(argv, "--out", "run")...)
		await(t, "its end", b.ended)
		if said := b.said.String(); b.ProcessState.ExitCode() != statusRefused || !strings.Contains(said, want) {
			t.Errorf("%q: status %d, want %q:\n%s", argv, b.ProcessState.ExitCode(), want, said)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "run")); err == nil {
			t.Errorf("%q left a run", argv)
		}
	}
	if now := cpusOf(pid); !slices.Equal(now, before) {
		t.Errorf("its threads may use %q, before %q", now, before)
	}
}
