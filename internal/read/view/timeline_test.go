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
				w.Ticks = append(w.Ticks, contract.Tick{
					AtNs: begin + n*second/5, Exchanges: n * 100, Runtime: &contract.Runtime{GCCycles: n, HeapBytes: 1 << 20},
					Times: &contract.TickTimes{Count: 100, P50Ns: 2000, MaxNs: 9000},
				})
				if n == 5 || n == 6 {
					continue
				}
				w.Metered = append(w.Metered, contract.Meter{
					AtNs: w.Open.Meter.AtNs + n*second/5, Process: contract.Process{UserNs: n * second / 10, RSSBytes: 4 << 20},
					TCP: &contract.TCP{Sockets: 3, Retransmits: 2 * n, CongestionWindow: 10},
				})
			}
		}
	}
}

func trackOf(t Timeline, of contract.Role, name string) *Track {
	for i := range t.Tracks {
		if t.Tracks[i].Of == of && t.Tracks[i].Name == name {
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
	for name, want := range map[string]struct {
		runs  int
		value float64
	}{
		"user":              {2, 0.5}, // broken over the lost readings
		"retransmits":       {2, 10},
		"congestion window": {2, 10},
		"cycles":            {1, 5},
		"heap":              {1, 1 << 20},
	} {
		track := trackOf(line, contract.Server, name)
		if track == nil {
			t.Errorf("there is no track %q", name)
			continue
		}
		if len(track.Runs) != want.runs || track.Runs[0][0][1] < want.value*0.999 || track.Runs[0][0][1] > want.value*1.001 {
			t.Errorf("%q has %d runs that begin with %v, want %d of %v", name, len(track.Runs), track.Runs[0][0], want.runs, want.value)
		}
	}
	if p99 := trackOf(line, contract.Client, "p99"); p99 != nil {
		t.Errorf("a p99 of 100 exchanges is shown: %v", p99)
	}
	if p50 := trackOf(line, contract.Client, "p50"); p50 == nil || p50.Runs[0][0][1] != 2 {
		t.Errorf("the median of a step is %+v, want 2 µs", p50)
	}
}
