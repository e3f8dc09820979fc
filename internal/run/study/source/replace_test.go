package source

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// What was published ran a fixed number of calls, and connections that sleep
// between exchanges: both are one override away.
func TestStudiesRunAsPublished(t *testing.T) {
	s := mustArgs(t, "line-rate-matrix", "amount=300")
	for _, tr := range planned(t, s) {
		w, err := study.Decode(tr.Levels)
		if err != nil {
			t.Fatal(err)
		}
		if w.Load.Amount != 300 || w.Window != 0 {
			t.Fatalf("%s: an amount of %d and a window of %v", tr.ID, w.Load.Amount, w.Window)
		}
	}
	s = mustArgs(t, "event-loops", "rate=max", "think=1ms")
	for _, tr := range planned(t, s) {
		if tr.Levels["think"] != "1ms" || tr.Levels["rate"] != "max" {
			t.Fatalf("%s: %v", tr.ID, tr.Levels)
		}
	}
	if got := fmt.Sprint(s.Compare.Primary); got != "[server.cpu_us_per_exchange service_p99_us]" {
		t.Errorf("compared are %s", got)
	}
	_, warnings, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(warnings); !strings.Contains(said, "service_p99_us is compared in place of response_p99_us") {
		t.Errorf("the other metric is not told: %s", said)
	}
}

func TestATypedEndReplacesTheFilesOwn(t *testing.T) {
	const file = `
study: x
hold: {transport: a, window: 3s}
sweeps:
  - {name: short, hold: {window: 1s, connections: 1}}
  - {name: long, vary: {window: [4s, 5s], connections: [2]}}
`
	open := func(string) ([]byte, error) { return []byte(file), nil }
	for _, c := range []struct {
		typed, windows string
		refused        string
	}{
		{"amount=10", "0s", ""},
		{"amount=10,20", "0s", ""},
		{"window=2s", "2s", ""},
		{"amount=0,10", "", "a trial ends after an amount or after a window"},
	} {
		s, err := ParseArgs([]string{"x.yaml", c.typed}, open)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.typed, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.typed, err)
			continue
		}
		for _, tr := range planned(t, s) {
			if tr.Levels["window"] != c.windows {
				t.Errorf("%s: %s has window %s, expected %s", c.typed, tr.Cell, tr.Levels["window"], c.windows)
			}
		}
	}
	if _, err := ParseArgs([]string{"x.yaml", "amount=10", "window=1s"}, open); err == nil {
		t.Error("both were typed, and nothing was said")
	}
	fixed := func(string) ([]byte, error) {
		return []byte("study: x\nhold: {transport: a, amount: 7}\n"), nil
	}
	s, err := ParseArgs([]string{"x.yaml", "window=2s"}, fixed)
	if err != nil {
		t.Fatal(err)
	}
	if l := planned(t, s)[0].Levels; l["window"] != "2s" || l["amount"] != "0" {
		t.Errorf("a typed window leaves %v", l)
	}
}

func TestTypedPrimariesAreNotReplaced(t *testing.T) {
	_, err := ParseArgs([]string{"event-loops", "rate=max", "compare.primary=response_p99_us"}, nil)
	if err == nil || !strings.Contains(err.Error(), "exists in an open loop only") {
		t.Errorf("got %v", err)
	}
	s := mustArgs(t, "event-loops", "rate=max", "compare.primary=exchanges_per_s")
	if got := fmt.Sprint(s.Compare.Primary); got != "[exchanges_per_s]" {
		t.Errorf("compared are %s", got)
	}
	s = mustArgs(t, "event-loops", "rate=10k")
	if got := fmt.Sprint(s.Compare.Primary); got != "[server.cpu_us_per_exchange response_p99_us]" {
		t.Errorf("in an open loop %s are compared", got)
	}
}

// planned returns the trials of a study's plan.
func planned(t *testing.T, s *study.Study) []record.Trial {
	t.Helper()
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return trials
}
