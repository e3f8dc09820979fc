package trial_test

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// frozenOpening lets a client come to the opening mark late, as one does that
// stood still across it. What fell due meanwhile is completed at once.
func frozenOpening(c *record.Worker, late time.Duration) {
	c.Result.FromNs += int64(late)
	c.Open.Reading.AtNs += int64(late)
	c.Open.Meter.AtNs += int64(late)
	c.Open.Meter.SkewNs += int64(late)
}

// The window of every worker is as long as declared by every clock, and lies
// where the others' lie.
func TestConsistencyOfClocks(t *testing.T) {
	shift := func(w *record.Worker, by time.Duration) {
		for _, edge := range []*record.Edge{w.Open, w.Close} {
			edge.Reading.AtNs += int64(by)
			edge.Meter.AtNs += int64(by)
			edge.Meter.SkewNs += int64(by)
		}
	}
	checkMiscounts(t, []miscount{
		{"a client frozen across the opening", func(_, c *record.Worker) { frozenOpening(c, 700*time.Millisecond) },
			"the window of client-1 lasted 1.30 s by the result's clock, but 2.00 s was declared"},
		{"a client late by what a crowded host explains", func(_, c *record.Worker) {
			frozenOpening(c, 90*time.Millisecond)
			waited(c, 200*time.Millisecond)
		}, ""},
		{"a client frozen across the closing", func(_, c *record.Worker) {
			c.Result.ToNs += 700_000_000
			c.Close.Reading.AtNs += 700_000_000
			c.Close.Meter.AtNs += 700_000_000
			c.Close.Meter.SkewNs += 700_000_000
		}, "the window of client-1 lasted 2.70 s by the result's clock"},
		{"a client frozen across both", func(_, c *record.Worker) {
			shift(c, 700*time.Millisecond)
			c.Result.FromNs += 700_000_000
			c.Result.ToNs += 700_000_000
		}, "client-1 answered the opening mark 700 ms after it was sent"},
		{"a result of half the window", func(_, c *record.Worker) { c.Result.ToNs -= 1_000_000_000 },
			"the window of client-1 lasted 1.00 s by the result's clock, but 2.00 s was declared"},
		{"a server that says half the window", func(s, _ *record.Worker) { s.Close.Reading.AtNs -= 1_000_000_000 },
			"the window of server lasted 1.00 s by its own clock, but 2.00 s was declared"},
		{"a server that came late to both marks", func(s, _ *record.Worker) { shift(s, 700*time.Millisecond) },
			"server answered the opening mark 700 ms after it was sent"},
		{"a meter of other readings", func(s, _ *record.Worker) { s.Close.Meter.AtNs -= 500_000_000 },
			"the window of server lasted 1.50 s by its meter's clock"},
		{"answers that took as long as the way", func(_, c *record.Worker) {
			for _, edge := range []*record.Edge{c.Idle, c.Open, c.Close} {
				edge.AnswerNs = 400_000_000 // half the world away
			}
		}, ""},
		{"a meter that stood still with its worker", func(_, c *record.Worker) {
			c.Idle.AnswerNs, c.Open.AnswerNs, c.Close.AnswerNs = 1_000_000, 701_000_000, 701_000_000
		}, "client-1 answered the opening mark 700 ms after it was sent"},
		{"a server of somebody else's, elsewhere", func(s, _ *record.Worker) {
			s.Ready.Foreign, s.Ready.Elsewhere = true, true
			s.Close.Reading.AtNs -= 1_000_000_000
		}, ""},
	})
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		want   string
	}{
		{"the bench stood still", func(r *record.Record) { r.Timeline.CloseNs += 700_000_000 }, "the window lasted 2.70 s between the marks by the bench's clock, but 2.00 s was declared"},
		{"a record of nobody's window", func(r *record.Record) {
			delete(r.Trial.Levels, "window")
			r.Timeline = record.Timeline{}
		}, ""},
		{"a level that is none", func(r *record.Record) {
			r.Trial.Levels["window"] = "long"
			r.Workers[1].Result.ToNs -= 1_000_000_000
		}, "the window of client-1 lasted 1.00 s"},
	} {
		judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, c.change)
		if (judged.Status == trial.Valid) != (c.want == "") || !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%s: %s, %q; want %q", c.name, judged.Status, judged.Reason, c.want)
		}
	}
}

// Two clients whose windows are as long as declared, and of which one began when
// the other had half done: their rates were never offered together.
func TestConsistencyOfClientsThatDoNotOverlap(t *testing.T) {
	judged := examined(t, synthetic.Options{Clients: 2, Window: 2 * time.Second}, func(r *record.Record) {
		c := &r.Workers[2]
		for _, edge := range []*record.Edge{c.Open, c.Close} {
			edge.Reading.AtNs += 1_000_000_000
			edge.Meter.AtNs += 1_000_000_000
		}
		c.Result.FromNs += 1_000_000_000
		c.Result.ToNs += 1_000_000_000
	})
	if want := "client-2 overlap for only 1.00 s of 2.00 s"; judged.Status != trial.StatusInvalid || !strings.Contains(judged.Reason, want) {
		t.Errorf("%s: %q, want %q", judged.Status, judged.Reason, want)
	}
}

// An open loop cannot complete what has not fallen due.
func TestConsistencyOfWhatFellDue(t *testing.T) {
	// more lets a client complete twice what its window held, with counters that agree.
	more := func(s, c *record.Worker) {
		n := c.Result.Counts.Exchanges
		c.Result.Counts.Exchanges, c.Result.Counts.SentBytes, c.Result.Counts.ReceivedBytes = 2*n, 200*n, 200*n
		s.Close.Reading.Counts.Exchanges += n
		s.Close.Reading.Counts.SentBytes += 100 * n
		s.Close.Reading.Counts.ReceivedBytes += 100 * n
		c.Result.Service = synthetic.Histogram(map[time.Duration]int64{time.Millisecond: 2*n + c.Result.Drained})
		waited(c, 200*time.Millisecond)
	}
	checkMiscounts(t, []miscount{
		{"twice as much", more, "client-1 completed 4000 exchanges in its window, but at most 2250 had fallen due"},
		{"twice as much, drawn", func(s, c *record.Worker) { more(s, c); c.Setup.Load.Arrival = contract.Poisson }, "but at most 2438 had fallen due"},
		{"a backlog that had waited as long", func(s, c *record.Worker) { more(s, c); waited(c, 2*time.Second) }, ""},
	})
}
