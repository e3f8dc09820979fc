package session

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

func saidLive(t *testing.T, path string) record.Live {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := record.ReadLive(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLiveSaysHowFarTheTrialIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), record.LiveFile)
	l := newLive(path, func() (least, most time.Duration) { return time.Minute, time.Hour })
	l.observe(bench.Event{Trial: record.Trial{ID: "b01-001"}})
	if got := saidLive(t, path); got.Trial != "b01-001" || len(got.Ticks) != 0 || got.BeganAt.IsZero() || got.EndsBy.Sub(got.EndsFrom) != 59*time.Minute {
		t.Errorf("at a trial's beginning it says %+v", got)
	}
	tick := func(client int, exchanges int64) {
		l.written = l.written.Add(-liveApart)
		l.observe(bench.Event{Client: client, Tick: &contract.Tick{AtNs: 1, Exchanges: exchanges}})
	}
	tick(1, 20)
	tick(0, 10)
	tick(record.MaxLiveClients, 30)
	got := saidLive(t, path)
	if len(got.Ticks) != 2 || got.Ticks[0].Exchanges != 10 || got.Ticks[1].Exchanges != 20 {
		t.Errorf("after ticks of two clients it says %+v", got.Ticks)
	}
	l.observe(bench.Event{Trial: record.Trial{ID: "b01-002"}})
	if got := saidLive(t, path); got.Trial != "b01-002" || len(got.Ticks) != 0 {
		t.Errorf("at the next trial it says %+v", got)
	}
	l.end()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after the run: %v", err)
	}
	tick(0, 11) // of a worker that is late
}

// A run says it while its trials run, and leaves nothing.
func TestARunIsLiveWhileItRuns(t *testing.T) {
	workplace(t)
	_, run := opened(t, request("live", "blocks=1"))
	seen := 0
	err := run.Measure(t.Context(), Observer{Trial: func(e bench.Event) {
		if e.Tick == nil && e.Record == nil && saidLive(t, run.Dir.Live()).Trial == e.Trial.ID {
			seen++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(run.Dir.Live()); seen != len(run.Left) || seen == 0 || !os.IsNotExist(err) {
		t.Errorf("said of %d of %d trials; afterwards: %v", seen, len(run.Left), err)
	}
}
