package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

var stoodStill = record.Disturbance{Why: "client-1 and its meter did not run", ForNs: 40e6}

// disturbing is a judge that finds the first attempts of a trial disturbed.
func disturbing(trial string, attempts int) Judge {
	return Judge{Disturbed: func(r record.Record) (by record.Disturbance) {
		if r.Trial.ID == trial && attempts > 0 {
			attempts--
			by = stoodStill
		}
		return by
	}}
}

// A trial that was disturbed is made again in its place, three times in all at most, and
// leaves one record. A trial that is never left alone is kept as it is.
func TestADisturbedTrialIsMadeAgain(t *testing.T) {
	for disturbed, want := range []int{0, 1, 2, 2} {
		t.Run(fmt.Sprint(disturbed), func(t *testing.T) {
			workplace(t)
			r := request("run", "blocks=2")
			r.Judge = disturbing("b01-002", disturbed)
			_, run := opened(t, r)
			var begun []string
			err := run.Measure(t.Context(), Observer{Trial: func(e bench.Event) {
				if e.Record == nil && e.Tick == nil {
					begun = append(begun, e.Trial.ID+" "+e.Again)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			again := make([]string, want)
			for i := range again {
				again[i] = "b01-002 client-1 and its meter did not run for 40.0 ms"
			}
			if expected := slices.Concat([]string{"b01-001 ", "b01-002 "}, again, []string{"b02-001 ", "b02-002 "}); !slices.Equal(begun, expected) {
				t.Errorf("trials began as %q, want %q", begun, expected)
			}
			contents := recordedIn(t, "run", 4)
			attempt := record.Attempt{Trial: "b01-002", Disturbance: stoodStill}
			if got := contents.Header.Again; len(got) != want || slices.ContainsFunc(got, func(a record.Attempt) bool { return a != attempt }) {
				t.Errorf("attempts %+v, want %d of b01-002", got, want)
			}
		})
	}
}

// A run that was stopped between two attempts makes the trial again, and counts those before.
func TestARunResumesBetweenTwoAttempts(t *testing.T) {
	workplace(t)
	r := request("run", "blocks=2")
	r.Judge = disturbing("b01-002", 9)
	_, run := opened(t, r)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := run.Measure(ctx, Observer{Trial: func(e bench.Event) {
		if e.Again != "" {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v, want %v", err, context.Canceled)
	}
	if before := recordedIn(t, "run", 1); len(before.Header.Again) != 1 {
		t.Errorf("attempts %+v, want one", before.Header.Again)
	}
	r.Resume = true
	if left := measured(t, r).Left; len(left) != 3 || left[0].ID != "b01-002" {
		t.Errorf("left are %v, want the disturbed trial and those after it", left)
	}
	if after := recordedIn(t, "run", 4); len(after.Header.Again) != mostAttempts-1 {
		t.Errorf("attempts %+v, want %d", after.Header.Again, mostAttempts-1)
	}
}

// A machine that disturbs every trial takes a fifth longer and no more.
func TestAttemptsAreBounded(t *testing.T) {
	const trials = 200
	a := Again{Disturbed: func(record.Record) record.Disturbance { return stoodStill }}
	attempts := map[string]int{}
	spent := 0
	for i := range trials {
		r := record.Record{Trial: record.Trial{ID: fmt.Sprint(i)}}
		for attempts[r.Trial.ID] = 1; a.Ask(r).Why != ""; attempts[r.Trial.ID]++ {
			spent++
		}
		if n := attempts[r.Trial.ID]; n > mostAttempts {
			t.Fatalf("trial %d was made %d times", i, n)
		}
	}
	if most := spareAttempts + trials/trialsAnAttempt; spent > most || spent < most-1 {
		t.Errorf("%d attempts in vain, want about %d", spent, most)
	}
	var none Again
	if by := none.Ask(record.Record{}); by.Why != "" {
		t.Errorf("without a judge a trial is made again: %+v", by)
	}
}
