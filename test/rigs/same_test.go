package rigs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/trials"
)

// small is a study that takes a few seconds on any rig. Of a fixed amount of work
// the books close exactly, however late a busy machine reads them.
var small = []string{"transport=go-net,go-epoll", "connections=4,8", "clients=2", "blocks=1", "amount=500", "placement=free"}

// host is where a worker of a trial sat, and at what.
type place struct {
	Cell, Arm    string
	Worker, Seat string
}

// The same study on every rig has the same cells, arms, workers and seats, all
// of it valid, and leaves nothing behind.
func TestSame(t *testing.T) {
	t.Parallel()
	want := expected()
	for name, build := range beds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := build(t, plain)
			before := b.census(t)
			contents := b.run(t, small...)
			before.nothingLeft(t)
			if got := seats(contents.Records); !slices.Equal(got, want) {
				t.Errorf("workers sat at %v, want %v", got, want)
			}
			valid(t, contents)
			for _, r := range contents.Records {
				driven(t, r)
			}
		})
	}
}

// expected are the seats of a small study on a rig of three hosts.
func expected() []place {
	var all []place
	for _, cell := range []string{"connections=4", "connections=8"} {
		for _, arm := range []string{"go-epoll", "go-net", "go-net"} { // the baseline runs twice
			all = append(all, place{cell, arm, "client-1", "node2"}, place{cell, arm, "client-2", "node3"}, place{cell, arm, "server", "node1"})
		}
	}
	return sorted(all)
}

func seats(records []record.Record) []place {
	var all []place
	for _, r := range records {
		for _, w := range r.Workers {
			all = append(all, place{r.Trial.Cell, r.Trial.Arm, w.Name, w.Seat})
		}
	}
	return sorted(all)
}

func sorted(places []place) []place {
	slices.SortFunc(places, func(a, b place) int {
		return slices.Compare([]string{a.Cell, a.Arm, a.Worker}, []string{b.Cell, b.Arm, b.Worker})
	})
	return places
}

// valid demands that a reader finds nothing wrong with any trial but what a busy machine
// did to it, and that most were left alone.
func valid(t *testing.T, contents record.Contents) {
	t.Helper()
	all, disturbed := judged(t, contents), 0
	for id, judged := range all {
		switch {
		case judged.Status == trial.Valid:
		case trials.Disturbed(judged.Reason):
			disturbed++
			t.Logf("trial %s was disturbed: %s", id, judged.Reason)
		default:
			t.Errorf("trial %s is %s: %s", id, judged.Status, judged.Reason)
		}
	}
	if 2*disturbed > len(all) {
		t.Errorf("%d of %d trials were disturbed", disturbed, len(all))
	}
}

// judged is what a reader finds of every trial, by its id.
func judged(t *testing.T, contents record.Contents) map[string]trial.Trial {
	t.Helper()
	var trials []record.Trial
	for _, r := range contents.Records {
		trials = append(trials, r.Trial)
	}
	found, err := finding.Find(contents.Header, trials, contents.Records)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]trial.Trial{}
	for _, cell := range found.Cells {
		for _, arm := range cell.Arms {
			for _, trial := range arm.Trials {
				all[trial.ID] = trial
			}
		}
	}
	if len(all) != len(trials) {
		t.Errorf("of %d trials a reader has %d", len(trials), len(all))
	}
	return all
}

// driven demands that both clients of a trial received, and that all they did was
// with the server.
func driven(t *testing.T, r record.Record) {
	t.Helper()
	var clients, servers, connections int64
	for _, w := range r.Workers {
		switch {
		case w.Result == nil:
			t.Errorf("trial %s: %s has no result", r.Trial.ID, w.Name)
		case w.Role == contract.Server:
			// It also answered the exchanges that verified each connection, before.
			servers += w.Close.Reading.Counts.Exchanges - w.Open.Reading.Counts.Exchanges
		case w.Result.Counts.ReceivedBytes == 0:
			t.Errorf("trial %s: %s received nothing", r.Trial.ID, w.Name)
		default:
			clients += w.Result.Counts.Exchanges
			connections += int64(w.Setup.Load.Connections) // a meter read late finds them closed
		}
	}
	// It counts a reply after the client may have it: at its close the last one of each
	// connection may be missing.
	if late := clients - servers; clients == 0 || late < 0 || late > connections {
		t.Errorf("trial %s: the clients completed %d exchanges on %d connections, the server %d", r.Trial.ID, clients, connections, servers)
	}
}

// Recorded traffic, here made of a log, reaches every host of a rig that brings files there.
func TestRecordedTrafficReachesTheHosts(t *testing.T) {
	t.Parallel()
	times := filepath.Join(t.TempDir(), "times.jsonl")
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, `{"time":%d.%03d,"class":"due"}`+"\n", 1+i/100, i%100*10)
	}
	if err := os.WriteFile(times, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, build := range beds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "ssh" { // which brings files
				soak(t)
			}
			b := build(t, plain)
			before := b.census(t)
			contents := b.run(t, "transport=go-net,go-epoll", "connections=4", "clients=2", "blocks=1", "arrival=trace:"+times, "window=1s", "warmup=200ms", "placement=free")
			before.nothingLeft(t)
			if len(contents.Records) != 3 {
				t.Fatalf("%d records", len(contents.Records))
			}
			for _, r := range contents.Records {
				for _, w := range r.Workers {
					if w.Role != contract.Client {
						continue
					}
					trace := w.Setup.Load.Trace
					if trace == nil || !trace.Times || trace.Parts != 2 || trace.File == times || w.Result == nil || w.Result.Counts.Exchanges < 30 {
						t.Errorf("trial %s, %s: %+v, %+v", r.Trial.ID, w.Name, trace, w.Result)
					}
				}
				if r.Outcome != record.OK {
					t.Errorf("trial %s: %+v", r.Trial.ID, r.Failure)
				}
			}
		})
	}
}
