package finding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// accountOf makes a server's account of segments with so many exchanges.
func accountOf(exchanges ...int64) record.Contents {
	c := record.Contents{Header: record.Header{Listen: []string{"10.0.0.1:8080"}}}
	total := int64(0)
	edge := func(at int64) *record.Edge {
		return &record.Edge{
			Reading: contract.Reading{AtNs: at * 1e9, Counts: contract.Counts{Exchanges: total, ReceivedBytes: total * 100, SentBytes: total * 100}},
			Meter:   &contract.Meter{AtNs: at * 1e9, Process: contract.Process{CPUNs: total * 10_000}},
		}
	}
	for i, n := range exchanges {
		open := edge(int64(2 * i))
		total += n
		c.Records = append(c.Records, record.Record{
			Outcome: record.OK, Segment: &record.Segment{Number: i + 1, First: *open, Last: *edge(int64(2*i + 1))},
			Workers: []record.Worker{{
				Role: contract.Server, Transport: "go-net", Open: open, Close: edge(int64(2*i + 1)), Ready: &contract.Ready{},
				Setup: &contract.Setup{Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100}},
			}},
		})
	}
	return c
}

// driven makes a client's run whose trials did so many exchanges over two
// connections; a negative number is a trial that failed. All are one arm's,
// unless arms are named.
func driven(exchanges []int64, arms ...string) Drive {
	d := Drive{Findings: &Findings{}}
	cell := Cell{}
	for i, n := range exchanges {
		arm := "go-net"
		if i < len(arms) {
			arm = arms[i]
		}
		t := record.Trial{ID: fmt.Sprintf("t%d", i+1), Arm: arm, Levels: map[string]string{"server": "go-net"}}
		d.Trials = append(d.Trials, t)
		r := record.Record{Trial: t, Outcome: record.OK}
		status := Valid
		if n < 0 {
			r.Outcome, status = record.Failed, StatusFailed
		} else {
			r.Workers = []record.Worker{{
				Role: contract.Client, Open: &record.Edge{}, Ready: &contract.Ready{Connections: 2, Verified: 2},
				Setup: &contract.Setup{Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100}, Load: contract.Load{Connections: 2}},
				Close: &record.Edge{Reading: contract.Reading{Counts: contract.Counts{Exchanges: n - 2}}}, Result: &contract.Result{Drained: 2},
			}}
		}
		d.Records = append(d.Records, r)
		place := slices.IndexFunc(cell.Arms, func(a Arm) bool { return a.Name == arm })
		if place < 0 {
			place = len(cell.Arms)
			cell.Arms = append(cell.Arms, Arm{Name: arm})
		}
		cell.Arms[place].Trials = append(cell.Arms[place].Trials, Trial{ID: t.ID, Status: status})
	}
	d.Findings.Cells = []Cell{cell}
	return d
}

// held says which trials each segment was given: "t1 - t2+t3".
func held(s *ServerReport) string {
	var all []string
	for _, segment := range s.Segments {
		if len(segment.Trials) == 0 {
			all = append(all, "-")
			continue
		}
		all = append(all, strings.Join(segment.Trials, "+"))
	}
	return strings.Join(all, " ")
}

func TestSegmentsFindTheirTrials(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []int64
		trials   []int64
		want     string
	}{
		{"each its own", []int64{1002, 2002, 3002}, []int64{1000, 2000, 3000}, "t1 t2 t3"},
		{"equal counts, all there", []int64{1002, 1002}, []int64{1000, 1000}, "t1 t2"},
		{"a stranger came between", []int64{1002, 7, 2002}, []int64{1000, 2000}, "t1 - t2"},
		{"a trial failed and left a part", []int64{1002, 400, 3002}, []int64{1000, -1, 3000}, "t1 - t3"},
		{"a trial failed and left nothing", []int64{1002, 3002}, []int64{1000, -1, 3000}, "t1 t3"},
		{"two trials without a pause", []int64{3004, 5002}, []int64{1000, 2000, 5000}, "t1+t2 t3"},
		{"one segment, two trials that fit", []int64{1002}, []int64{1000, 1000}, "-"},
		{"two segments that fit, one trial", []int64{1002, 1002}, []int64{1000}, "- -"},
		{"another server", []int64{50, 60}, []int64{1000, 2000}, "- -"},
		{"fewer than the client had", []int64{999}, []int64{1000}, "-"},
		{"more than could be unfinished", []int64{1005}, []int64{1000}, "-"},
		{"the other way round", []int64{2002, 1002}, []int64{1000, 2000}, "- -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := driven(c.trials)
			if err := Join(accountOf(c.segments...), []Drive{d}); err != nil {
				t.Fatal(err)
			}
			if got := held(d.Findings.ServerReport); got != c.want {
				t.Errorf("segments hold %q, want %q", got, c.want)
			}
		})
	}
}

func TestTwoClientsAddUp(t *testing.T) {
	a, b := driven([]int64{1000, 2000}), driven([]int64{500, 600})
	if err := Join(accountOf(1504, 2604), []Drive{a, b}); err != nil {
		t.Fatal(err)
	}
	if got := held(a.Findings.ServerReport); got != "t1 t2" || a.Findings.ServerReport != b.Findings.ServerReport {
		t.Errorf("segments hold %q, want t1 t2 in the findings of both", got)
	}
}

// What holds trials of several arms belongs to none, and is said.
func TestMixedSegmentsBelongToNoArm(t *testing.T) {
	d := driven([]int64{1000, 2000, 4000}, "a", "b", "a")
	if err := Join(accountOf(3004, 4002), []Drive{d}); err != nil {
		t.Fatal(err)
	}
	arms := d.Findings.ServerReport.Arms
	if len(arms) != 1 || arms[0].Arm != "a" || arms[0].Segments != 1 || arms[0].Exchanges != 4002 {
		t.Errorf("arms %+v, want a with its one segment", arms)
	}
	if !slices.ContainsFunc(d.Findings.Warnings, func(w record.Warning) bool { return strings.Contains(w.Text, "several arms") }) {
		t.Errorf("warnings %v say nothing of several arms", d.Findings.Warnings)
	}
}

// A server's cost is over its own exchanges.
func TestServedCostIsTheServersOwn(t *testing.T) {
	d := driven([]int64{1000})
	if err := Join(accountOf(1002), []Drive{d}); err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{
		"segment.exchanges_per_s": 1002, "segment.cpu_us_per_exchange": 10, "segment.cpu_s_per_gb": 100, "segment.cores": 0.01002,
	} {
		if got := d.Findings.ServerReport.Segments[0].Values[metric]; got < want*0.9999 || got > want*1.0001 {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
}

// A server that divides its bytes by another size than the client's is counted
// anew by the client's.
func TestSegmentsAreCountedByTheTrialsSizes(t *testing.T) {
	d := driven([]int64{4000})
	setup := d.Records[0].Workers[0].Setup
	setup.Exchange.UpBytes, setup.Exchange.DownBytes = 25, 25 // 1,000 of 100 bytes are 4,000 of 25
	if err := Join(accountOf(1000), []Drive{d}); err != nil {
		t.Fatal(err)
	}
	s := d.Findings.ServerReport.Segments[0]
	if held(d.Findings.ServerReport) != "t1" || s.Exchanges != 4000 || s.Values["segment.cpu_us_per_exchange"] != 2.5 {
		t.Errorf("segment %+v, want 4000 exchanges of trial t1 at 2.5 µs", s)
	}
}

func TestJoinRefusesWhatIsNoAccount(t *testing.T) {
	if err := Join(record.Contents{}, []Drive{driven([]int64{1})}); err == nil {
		t.Error("a run was taken for a server's account")
	}
}

// However segments and trials lie, what is matched is in order and fits, and
// trials that all drove a server alone are all matched.
func TestMatchingKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.SliceOfN(rapid.Int64Range(100, 110), 1, 8).Draw(t, "trials")
		var segments []int64
		for _, n := range trials {
			segments = append(segments, n+2)
		}
		whole := rapid.Bool().Draw(t, "whole")
		if !whole {
			segments = rapid.SliceOfN(rapid.Int64Range(90, 240), 0, 8).Draw(t, "segments")
		}
		d := driven(trials)
		if err := Join(accountOf(segments...), []Drive{d}); err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, s := range d.Findings.ServerReport.Segments {
			least := int64(0)
			for _, id := range s.Trials {
				var k int
				if _, err := fmt.Sscanf(id, "t%d", &k); err != nil || k <= last {
					t.Fatalf("%s comes after t%d", id, last)
				}
				last = k
				least += trials[k-1]
			}
			if n := int64(len(s.Trials)); n > 0 && (s.Exchanges < least || s.Exchanges > least+4*n) {
				t.Fatalf("segment %d of %d exchanges holds %v with %d", s.Number, s.Exchanges, s.Trials, least)
			}
		}
		if whole && last != len(trials) {
			t.Fatalf("matched up to t%d of %d", last, len(trials))
		}
	})
}
