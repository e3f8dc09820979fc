package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/summary"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// servedElsewhere are findings of arms whose servers are their user's own; change alters
// each record before it is read.
func servedElsewhere(t *testing.T, o synthetic.Options, change func(*record.Record)) finding.Findings {
	t.Helper()
	header, trials, records := synthetic.Run(o)
	for i := range records {
		for w := range records[i].Workers {
			if records[i].Workers[w].Role == contract.Server {
				records[i].Workers[w].Ready.Foreign = true
			}
		}
		if change != nil {
			change(&records[i])
		}
	}
	header.Directory = "results/127.0.0.1-18080-20260102-150405"
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func shop(n int) []synthetic.Arm {
	return []synthetic.Arm{{Name: "127.0.0.1:8080/old"}, {Name: "127.0.0.1:8081/new", Speed: 1.3}}[:n]
}

// The end of a run by URL says what users of load generators look for, within 80 × 24.
func TestScreenOfAServerOfOnesOwn(t *testing.T) {
	f := servedElsewhere(t, synthetic.Options{Arms: shop(1), Connections: []int{1, 10, 100}, Blocks: 5, SD: 0.04, Seed: 1, Primary: []string{"exchanges_per_s"}}, nil)
	screen := screenOf(t, f)
	fits(t, "one URL", screen)
	golden(t, "load.txt", []byte(screen))
	for _, want := range []string{
		`(?m)^connections +requests/s +p50 +p90 +p99 +max`, `(?m)^1 +\d`, `(?m)^10 +\d`, `(?m)^100 +\d`,
		`(?m)^service times +1 connection +10 connections +100 connections$`, `(?m)^≤ \d+ (µs|ms) +█+ [\d.]+ %`,
		`requests answered, .* received in 60\.0 s, none failed`,
	} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("expected %s:\n%s", want, screen)
		}
	}
}

func TestScreenOfTwoServersOfOnesOwn(t *testing.T) {
	for name, connections := range map[string][]int{"one cell": {50}, "three cells": {1, 10, 100}} {
		f := servedElsewhere(t, synthetic.Options{Arms: shop(2), Connections: connections, Blocks: 6, SD: 0.04, Seed: 2, Primary: []string{"exchanges_per_s", "service_p99_us"}}, nil)
		screen := screenOf(t, f)
		fits(t, name, screen)
		if !strings.Contains(screen, "requests answered") || !regexp.MustCompile(`[+−]\d+ %`).MatchString(screen) {
			t.Errorf("%s:\n%s", name, screen)
		}
		if name == "one cell" {
			golden(t, "load_two.txt", []byte(screen))
		}
	}
}

// Requests that failed have a table of their reasons, which pushes no figure away.
func TestScreenOfAServerThatFails(t *testing.T) {
	f := servedElsewhere(t, synthetic.Options{Arms: shop(1), Connections: []int{1, 10, 100}, Blocks: 5, SD: 0.04, Seed: 1, Primary: []string{"exchanges_per_s"}}, func(r *record.Record) {
		for w := range r.Workers {
			if result := r.Workers[w].Result; r.Workers[w].Role == contract.Client && r.Trial.Levels["connections"] == "10" {
				result.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: 7}
				result.Reasons = []contract.Reason{{Kind: contract.Peer, Text: "503 Service Unavailable", Count: 7}}
			}
		}
	})
	screen := screenOf(t, f)
	fits(t, "failing", screen)
	for _, want := range []string{`70 +503 Service Unavailable`, `70 failed`, `(?m)^100 +\d`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("expected %s:\n%s", want, screen)
		}
	}
}

// The bars of a load are all of its times, whatever the steps of the rows.
func TestBarsHoldAllTimes(t *testing.T) {
	f := servedElsewhere(t, synthetic.Options{Arms: shop(1), Connections: []int{1, 1000}, Blocks: 3, SD: 0.3, Seed: 4, Primary: []string{"exchanges_per_s"}}, nil)
	s := summary.Of(f)
	for rows := 2; rows < 30; rows++ {
		bounds := s.Bounds(rows)
		if len(bounds) > rows || !slices.IsSorted(bounds) || rows > 8 && bounds == nil {
			t.Errorf("%d rows: bounds %v", rows, bounds)
		}
		for _, l := range s.Loads {
			sum, n := 0.0, int64(0)
			for _, share := range l.Shares(bounds) {
				sum += share
				if share < 0 {
					t.Errorf("%d rows: a share of %v", rows, share)
				}
			}
			for _, b := range l.Histogram {
				n += b.Count
			}
			if bounds != nil && (sum < 0.999999 || sum > 1.000001) || n < l.Requests {
				t.Errorf("%d rows: bars hold %v of the times, %d of %d requests", rows, sum, n, l.Requests)
			}
		}
	}
}

func TestSummaryIsOfServersOfOnesOwnAlone(t *testing.T) {
	if s := summary.Of(sample(3)); s != nil {
		t.Errorf("a study of netdyno's own servers has the summary %+v", s)
	}
}

// Stages of requests are shown where clients tell them, and the first byte where it comes
// clearly before the end of replies.
func TestStagesAreShownWhereTheyTellSomething(t *testing.T) {
	times := func(at time.Duration) string { return synthetic.Histogram(map[time.Duration]int64{at: 1e4}) }
	for name, c := range map[string]struct {
		stages      *contract.Stages
		shown, not  string
		connections []int
	}{
		"nobody tells":      {nil, `service times`, `stages`, []int{1, 10}},
		"first byte at end": {&contract.Stages{FirstByte: times(time.Hour)}, `service times`, `stages`, []int{1, 10}},
		"early first byte":  {&contract.Stages{FirstByte: times(2e3)}, `(?m)^first byte( +2\.00 / 2\.00 µs){2}$`, `connect |handshake`, []int{1, 10}},
		"new connections": {
			&contract.Stages{Connect: times(2e6), Handshake: times(3e6), Resumed: 5e3, FirstByte: times(time.Hour)},
			`(?m)^stages, p50 / p99 +1 connection +10 connections +100 connections\n` +
				`connect( +2\.00 / 2\.00 ms){3}\nTLS handshake( +3\.00 / 3\.00 ms){3}\nhandshakes resumed( +50 %){3}$`, `first byte`, []int{1, 10, 100},
		},
	} {
		f := servedElsewhere(t, synthetic.Options{Arms: shop(1), Connections: c.connections, Blocks: 3, SD: 0.04, Seed: 1, Primary: []string{"exchanges_per_s"}}, func(r *record.Record) {
			for i := range r.Workers {
				if w := &r.Workers[i]; w.Role == contract.Client {
					w.Result.Stages = c.stages
				}
			}
		})
		screen := screenOf(t, f)
		fits(t, name, screen)
		if !regexp.MustCompile(c.shown).MatchString(screen) || regexp.MustCompile(c.not).MatchString(screen) {
			t.Errorf("%s: expected %s, and nothing like %s:\n%s", name, c.shown, c.not, screen)
		}
		if told := summary.Of(f).Loads[0].Stages; (told != nil) != (c.stages != nil) {
			t.Errorf("%s: the summary has %v", name, told)
		}
	}
}
