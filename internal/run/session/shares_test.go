package session

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// finds is a judge that finds a rate flat out, another one each time it is asked.
func finds(asked *int) Judge {
	return Judge{Allocate: func(_ record.Header, trials []record.Trial, records []record.Record, block int) (record.Allocation, string, error) {
		*asked++
		a := record.Allocation{Levels: map[string]map[string]string{}}
		for _, t := range trials {
			if t.Block == block && t.OfFlatOut() {
				a.Levels[t.ID] = map[string]string{record.RateOf: fmt.Sprintf("%d000", *asked)}
			}
		}
		if block == 1 && len(records) != 3 {
			return a, "", fmt.Errorf("block 1 is decided after %d records", len(records))
		}
		return a, "", nil
	}}
}

// Each block's rates are decided once, after the trials flat out: what was decided is kept by
// a run that goes on, and probes run at such rates too.
func TestRatesThatAreSharesAreDecidedOnce(t *testing.T) {
	workplace(t)
	asked := 0
	r := request("run", "blocks=2", "rate=50%", "probes=1")
	r.Judge = finds(&asked)
	_, run := opened(t, r)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := 0
	err := run.Measure(ctx, Observer{Trial: func(e bench.Event) {
		if e.Record != nil {
			if ended++; ended == 4 {
				stop()
			}
		}
	}})
	if !errors.Is(err, context.Canceled) || asked != 1 {
		t.Fatalf("it ended with %v after %d decisions", err, asked)
	}
	asked = 10
	r.Resume = true
	measured(t, r)
	contents := recordedIn(t, "run", 3+2*2+1)
	if asked != 12 || len(contents.Header.Allocations) != 3 {
		t.Errorf("%d decisions, %+v", asked, contents.Header.Allocations)
	}
	want := map[int]string{0: "", 1: "1000", 2: "11000", 3: "12000"}
	for _, got := range contents.Records {
		if of := got.Trial.Levels[record.RateOf]; of != want[got.Trial.Block] {
			t.Errorf("%s is of %q, want %q", got.Trial.ID, of, want[got.Trial.Block])
		}
	}
	trials, err := record.ReadTrials(Directory("run").Trials())
	if err != nil {
		t.Fatal(err)
	}
	if left := contents.HoldTo(record.Allocated(trials, contents.Header.Allocations)); left != 0 {
		t.Errorf("%d records are not the plan's", left)
	}
}

// Where no trial flat out gave a rate, the trials whose rates are shares of it say so.
func TestAShareOfNothingFails(t *testing.T) {
	workplace(t)
	r := request("run", "blocks=1", "rate=50%")
	r.Judge = Judge{Allocate: func(record.Header, []record.Trial, []record.Record, int) (record.Allocation, string, error) {
		return record.Allocation{}, "", nil
	}}
	measured(t, r)
	contents, err := record.Read(Directory("run").Records())
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range contents.Records {
		const want = "rate=50% is a share of what scripted does flat out, and none of its trials flat out gave a rate"
		if failed := got.Outcome == record.Failed && got.Failure.Text == want; failed == got.Trial.FlatOut {
			t.Errorf("%s: %+v", got.Trial.ID, got.Failure)
		}
	}
}
