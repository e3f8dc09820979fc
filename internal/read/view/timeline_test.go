package view

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// tell gives every trial's server and client ticks that say more than counts: at each
// second one, from the start, one reading of the meter lost.
func tell(records []record.Record) {
	const second = int64(1e9)
	for i := range records {
		for j := range records[i].Workers {
			w := &records[i].Workers[j]
			begin := w.Open.Reading.AtNs
			w.Ticks = nil
			for n := range int64(10) {
				if n == 5 || n == 6 {
					continue
				}
				w.Ticks = append(w.Ticks, contract.Tick{
					AtNs: begin + n*second/5, Exchanges: n * 100, Runtime: &contract.Runtime{GCCycles: n},
					Times: &contract.TickTimes{Count: 100, P50Ns: 2000, MaxNs: 9000},
				})
			}
		}
	}
}

func trackOf(t Timeline, name string) *Track {
	for i := range t.Tracks {
		if t.Tracks[i].Name == name {
			return &t.Tracks[i]
		}
	}
	return nil
}

func TestATimelineIsOfTheMedianTrialOfEachArm(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{})
	if s, err := cells.Read(header, trials, records); err != nil || len(Timelines(s)) != 0 {
		t.Fatalf("%d timelines of trials without one (%v)", len(Timelines(s)), err)
	}
	tell(records)
	s, err := cells.Read(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	all := Timelines(s)
	if want := len(s.Cells) * len(s.Arms); len(all) != want {
		t.Fatalf("%d timelines, want %d: one of each arm and cell", len(all), want)
	}
	if all[0].Of < 2 {
		t.Errorf("chosen among %d trials, want all of the arm", all[0].Of)
	}
}

func TestATimelineInventsNothingWhereAReadingIsMissing(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{})
	tell(records)
	s, err := cells.Read(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	line := Timelines(s)[0]
	if rate := trackOf(line, "rate"); rate == nil || len(rate.Runs) != 1 {
		t.Errorf("the rate is %+v, want one line", rate)
	}
	if p99 := trackOf(line, "p99"); p99 != nil {
		t.Errorf("a p99 of 100 exchanges is shown: %v", p99)
	}
	if p50 := trackOf(line, "p50"); p50 == nil || len(p50.Runs) != 2 || p50.Runs[0][0][1] != 2 {
		t.Errorf("the medians of the steps are %+v, want 2 µs, broken over the lost readings", p50)
	}
}
