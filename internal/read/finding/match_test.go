package finding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
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
func driven(exchanges []int64, arms ...string) ClientRun {
	d := ClientRun{Findings: &Findings{}}
	cell := cells.Cell{}
	for i, n := range exchanges {
		arm := "go-net"
		if i < len(arms) {
			arm = arms[i]
		}
		t := record.Trial{ID: fmt.Sprintf("t%d", i+1), Arm: arm, Levels: map[string]string{"server": "go-net"}}
		d.Trials = append(d.Trials, t)
		r := record.Record{Trial: t, Outcome: record.OK}
		status := trial.Valid
		if n < 0 {
			r.Outcome, status = record.Failed, trial.StatusFailed
		} else {
			r.Workers = []record.Worker{{
				Role: contract.Client, Open: &record.Edge{}, Ready: &contract.Ready{Connections: 2, Verified: 2},
				Setup: &contract.Setup{Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100}, Load: contract.Load{Connections: 2}},
				Close: &record.Edge{Reading: contract.Reading{Counts: contract.Counts{Exchanges: n - 2}}}, Result: &contract.Result{Drained: 2},
			}}
		}
		d.Records = append(d.Records, r)
		place := slices.IndexFunc(cell.Arms, func(a cells.Arm) bool { return a.Name == arm })
		if place < 0 {
			place = len(cell.Arms)
			cell.Arms = append(cell.Arms, cells.Arm{Name: arm})
		}
		cell.Arms[place].Trials = append(cell.Arms[place].Trials, trial.Trial{ID: t.ID, Status: status})
	}
	d.Findings.Cells = []cells.Cell{cell}
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

// onOneHost gives both ends meters of one host: trial i ran while segment at[i]
// was driven, or between segments where at[i] is negative.
func onOneHost(run ClientRun, listen record.Contents, at ...int) {
	for i := range listen.Records {
		w := &listen.Records[i].Workers[0]
		w.Open.Meter.BootID, w.Close.Meter.BootID = "one", "one"
	}
	within := map[int]int64{} // trials so far in a segment, each of which lasts one second
	for i, segment := range at {
		if len(run.Records[i].Workers) == 0 {
			continue
		}
		from := int64(2*segment)*1e9 + within[segment]*100e6 + 100e6
		if segment < 0 {
			from = 1_450e6
		}
		within[segment]++
		w := &run.Records[i].Workers[0]
		w.Open.Meter = &contract.Meter{BootID: "one", AtNs: from}
		w.Close.Meter = &contract.Meter{BootID: "one", AtNs: from + 100e6}
	}
}

// joinBoth is what Join made of both ends: the segments' trials, and what was
// said.
func joinBoth(t *testing.T, d ClientRun, listen record.Contents) (trials, said string) {
	t.Helper()
	if err := Join(d, listen); err != nil {
		return "", err.Error()
	}
	var all []string
	for _, w := range d.Findings.Warnings {
		all = append(all, w.Text)
	}
	return held(d.Findings.ServerReport), strings.Join(all, "; ")
}

func TestTrialsAndSegmentsInOrder(t *testing.T) {
	const misfit = "another server, or something else drove this one"
	for _, c := range []struct {
		name     string
		segments []int64
		trials   []int64
		want     string // trials of the segments; "" for an error
		said     string
	}{
		{"each its own", []int64{1002, 2002, 3002}, []int64{1000, 2000, 3000}, "t1 t2 t3", ""},
		{"equal counts", []int64{1002, 1002}, []int64{1000, 1000}, "t1 t2", ""},
		{"a trial failed and left nothing", []int64{1002, 3002}, []int64{1000, -1, 3000}, "t1 t3", ""},
		{"a stranger came between", []int64{1002, 7, 2002}, []int64{1000, 2000}, "- - -", "2 trials ran to their end while the server was driven 3 times"},
		{"a trial failed and left a part", []int64{1002, 400, 3002}, []int64{1000, -1, 3000}, "- - -", "2 trials ran to their end while the server was driven 3 times"},
		{"two trials without a pause", []int64{3004, 5002}, []int64{1000, 2000, 5000}, "- -", "3 trials ran to their end while the server was driven 2 times"},
		{"no trial ended", []int64{1002}, []int64{-1}, "-", "no trial of the run came to its end"},
		{"another server", []int64{50, 60}, []int64{1000, 2000}, "", misfit},
		{"fewer than the client had", []int64{999}, []int64{1000}, "", misfit},
		{"more than could be unfinished", []int64{1005}, []int64{1000}, "", misfit},
		{"the other way round", []int64{2002, 1002}, []int64{1000, 2000}, "", misfit},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, said := joinBoth(t, driven(c.trials), accountOf(c.segments...))
			if got != c.want || !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("segments hold %q and it says %q, want %q and %q", got, said, c.want, c.said)
			}
		})
	}
}

func TestTrialsAndSegmentsOfOneHost(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []int64
		trials   []int64
		at       []int
		want     string // trials of the segments; "" for an error
		said     string
	}{
		{"a stranger came between", []int64{1002, 7, 2002}, []int64{1000, 2000}, []int{0, 2}, "t1 - t2", "no trial belongs to 1 of the server's 3 segments: 2 (7 exchanges)"},
		{"a trial failed and left a part", []int64{1002, 400, 3002}, []int64{1000, -1, 3000}, []int{0, 1, 2}, "t1 - t3", "2 (400 exchanges)"},
		{"two trials without a pause", []int64{3004, 5002}, []int64{1000, 2000, 5000}, []int{0, 0, 1}, "t1+t2 t3", ""},
		{"one of two that fit", []int64{1002, 1002}, []int64{1000}, []int{1}, "- t1", "1 (1002 exchanges)"},
		{"the server listened late", []int64{1002}, []int64{1000, 1000}, []int{-1, 0}, "t2", "the server kept no segment of 1 of 2 trials: t1"},
		{"another time", []int64{1002}, []int64{1000}, []int{-1}, "", "it is not the server of this run"},
		{"another client at the same time", []int64{1504}, []int64{1000}, []int{0}, "", "segment 1 of go-net on 10.0.0.1:8080 counted 1504 exchanges, and t1 made 1000 to 1004"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, listen := driven(c.trials), accountOf(c.segments...)
			onOneHost(d, listen, c.at...)
			got, said := joinBoth(t, d, listen)
			if got != c.want || !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("segments hold %q and it says %q, want %q and %q", got, said, c.want, c.said)
			}
		})
	}
}

// Where the server's own exchanges are unknown, only a clock tells.
func TestSegmentsWithoutCounts(t *testing.T) {
	for _, c := range []struct {
		oneHost    bool
		want, said string
	}{
		{true, "t1", ""},
		{false, "-", "one of them did not count its exchanges"},
	} {
		d, listen := driven([]int64{1000}), accountOf(7)
		listen.Records[0].Workers[0].Ready.Foreign = true
		if c.oneHost {
			onOneHost(d, listen, 0)
		}
		if got, said := joinBoth(t, d, listen); got != c.want || !strings.Contains(said, c.said) {
			t.Errorf("on one host %v: segments hold %q and it says %q, want %q and %q", c.oneHost, got, said, c.want, c.said)
		}
	}
}

// What holds trials of several arms belongs to none, and a warning says so.
func TestMixedSegmentsBelongToNoArm(t *testing.T) {
	d, listen := driven([]int64{1000, 2000, 4000}, "a", "b", "a"), accountOf(3004, 4002)
	onOneHost(d, listen, 0, 0, 1)
	_, said := joinBoth(t, d, listen)
	arms := d.Findings.ServerReport.Arms
	if len(arms) != 1 || arms[0].Arm != "a" || arms[0].Segments != 1 || arms[0].Exchanges != 4002 {
		t.Errorf("arms %+v, want a with its one segment", arms)
	}
	if !strings.Contains(said, "several arms") {
		t.Errorf("warnings %q say nothing of several arms", said)
	}
}

// A server's cost is over its own exchanges.
func TestServedCostIsTheServersOwn(t *testing.T) {
	d := driven([]int64{1000})
	if err := Join(d, accountOf(1002)); err != nil {
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
	if err := Join(d, accountOf(1000)); err != nil {
		t.Fatal(err)
	}
	s := d.Findings.ServerReport.Segments[0]
	if held(d.Findings.ServerReport) != "t1" || s.Exchanges != 4000 || s.Values["segment.cpu_us_per_exchange"] != 2.5 {
		t.Errorf("segment %+v, want 4000 exchanges of trial t1 at 2.5 µs", s)
	}
}

func TestJoinRefusesWhatIsNoAccount(t *testing.T) {
	if err := Join(driven([]int64{1}), record.Contents{}); err == nil {
		t.Error("a run was taken for a server's account")
	}
}

// However trials lie among segments of one host, each is in the segment of its
// time, and the counts of the two agree or Join fails.
func TestJoinByClockKeepsTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.SliceOfN(rapid.Int64Range(100, 110), 1, 8).Draw(t, "trials")
		var segments []int64
		var at []int
		for i, n := range trials {
			if i == 0 || rapid.Bool().Draw(t, "pause") {
				segments = append(segments, 0)
			}
			last := len(segments) - 1
			segments[last] += n + 2
			at = append(at, last)
		}
		wrong := rapid.IntRange(-1, len(segments)-1).Draw(t, "wrong")
		if wrong >= 0 {
			segments[wrong] += 1000
		}
		d, listen := driven(trials), accountOf(segments...)
		onOneHost(d, listen, at...)
		if err := Join(d, listen); (err != nil) != (wrong >= 0) {
			t.Fatalf("Join: %v, with segment %d made wrong", err, wrong)
		} else if err != nil {
			return
		}
		for i, segment := range at {
			if id := fmt.Sprintf("t%d", i+1); !slices.Contains(d.Findings.ServerReport.Segments[segment].Trials, id) {
				t.Fatalf("%s is not in segment %d: %s", id, segment, held(d.Findings.ServerReport))
			}
		}
	})
}
