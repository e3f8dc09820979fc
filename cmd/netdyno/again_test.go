package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// A worker and its meter that a signal stops inside the window of a trial leave an attempt,
// and the trial is made again. The report counts it, and nothing is lost or invalid by it.
func TestAFrozenTrialIsMadeAgain(t *testing.T) {
	t.Parallel()
	n := typing(t, "server=go-grpc", "client=go-connect-grpc", "request=100B", "connections=4", "warmup=300ms", "warmup_max=300ms", "window=2s", "blocks=2", "probes=0")
	c, said := n.command()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	n.awaitTicks(5) // 200 ms apart from the start on, so that the window is open
	var done sync.WaitGroup
	stopEnd(t, n.family, programOf[contract.Client], 300*time.Millisecond, &done)
	_ = c.Wait() // its status is in ProcessState
	done.Wait()
	if code := c.ProcessState.ExitCode(); !finished(code, said.String()) {
		t.Errorf("status %d: %s", code, said)
	}
	n.complete(nil)
	contents, err := record.Read(n.path("records.jsonl"))
	if err != nil || len(contents.Header.Again) == 0 {
		t.Fatalf("%v, attempts %v:\n%s", err, contents.Header.Again, said)
	}
	// A busy machine may disturb others, too.
	mine := slices.IndexFunc(contents.Header.Again, func(a record.Attempt) bool {
		return a.Why == "client-1 and its meter did not run" && a.ForNs >= 200e6
	})
	if mine < 0 {
		t.Fatalf("none of the attempts in vain is that which was stopped: %+v", contents.Header.Again)
	}
	first := contents.Header.Again[mine]
	if kept := bytes.Count(n.whole(), []byte(`"again":{`)); kept != len(contents.Header.Again) {
		t.Errorf("%d attempts are kept, want %d", kept, len(contents.Header.Again))
	}
	if want := "again: " + first.String(); !strings.Contains(said.String(), want) {
		t.Errorf("no %q while it ran:\n%s", want, said)
	}
	for _, file := range []string{"report.md", "findings.json"} {
		text, err := os.ReadFile(n.path(file))
		if err != nil || !bytes.Contains(text, []byte("disturbed and made again")) {
			t.Errorf("%s does not say that a trial was made again: %v", file, err)
		}
	}
}

// awaitTicks waits until the clients of a trial under way have ticked so often.
func (n typed) awaitTicks(ticks int) {
	n.t.Helper()
	seen := map[int64]bool{}
	var began time.Time
	for begin := time.Now(); len(seen) < ticks; time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			n.t.Fatalf("no %d ticks of a trial within a minute", ticks)
		}
		text, err := os.ReadFile(n.path(record.LiveFile))
		if err != nil {
			continue // not there yet
		}
		live, err := record.ReadLive(bytes.NewReader(text))
		if err != nil || len(live.Ticks) == 0 {
			continue // it is being written, or the trial begins
		}
		if !live.BeganAt.Equal(began) {
			began = live.BeganAt
			clear(seen)
		}
		seen[live.Ticks[0].AtNs] = true
	}
}
