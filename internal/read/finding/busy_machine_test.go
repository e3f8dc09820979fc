package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A machine that others used before the run and in it is warned of under one word, a line for
// each way, with the largest share, whatever words the run was recorded with.
func TestABusyMachineIsOneWord(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 3, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll"}}})
	h.Study.Warnings = []record.Warning{
		{About: "load", Text: "100 % of the CPUs are busy before the run (load average 15.16)", Advice: "stop them"},
		{About: "steal", Text: "the hypervisor takes 3.0 % of the CPU time", Advice: "move"},
		{About: "blocks", Text: "few", Advice: "more"},
	}
	for i, ms := range []int64{200, 900} {
		for j := range records[i].Workers {
			records[i].Workers[j].Close.Meter.CPUs[1].StealNs += ms * 1e6
		}
	}
	f := find(t, h, trials, records)
	var about, said []string
	for _, w := range f.Warnings {
		if about = append(about, w.About); w.About != "busy-machine" {
			continue
		}
		said = append(said, w.Text)
		for _, part := range []string{"arms may compare the other way", "rates may be too low"} {
			if !strings.Contains(w.Advice, part) {
				t.Errorf("%q lacks %q", w.Advice, part)
			}
		}
	}
	if want := []string{"the hypervisor took up to 10.1 % of the CPU time in 2 of 18 trials; ratios are corrected for that", "100 % of the CPUs are busy before the run (load average 15.16)", "the hypervisor takes 3.0 % of the CPU time"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if all := strings.Join(about, " "); strings.Count(all, "busy-machine") != 3 || strings.Contains(all, "load") && !strings.Contains(all, "loopback") || strings.Contains(all, "steal") || !strings.Contains(all, "blocks") {
		t.Errorf("warnings about %s", all)
	}
}

// Beside other processes an arm's costs, rates and times show how the kernel divides the
// CPUs, so that nothing with time in it is held against another arm; what has none is. Of
// exchanges that did not wait for a CPU rates and times are compared. A warning says so.
func TestBesideOthersNothingWithTimeIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		waitNs  int64 // that each thread waited for a CPU
		refused []string
	}{
		"waiting for CPUs":     {800e6, []string{"exchanges_per_s", "server.cpu_us_per_exchange", "service_p99_us"}},
		"waiting, as it seems": {0, []string{"exchanges_per_s", "server.cpu_us_per_exchange", "service_p99_us"}}, // the kernel does not tell
		"waiting for nothing":  {1, []string{"server.cpu_us_per_exchange", "service_p99_us"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll"}}})
			h.Study.Compare.Primary = []string{"exchanges_per_s", "server.cpu_us_per_exchange", "service_p99_us", "server.rss_bytes"}
			besideOthers(records, "go-epoll", c.waitNs)
			f := find(t, h, trials, records)
			for _, found := range f.Comparisons {
				if !found.Primary {
					continue
				}
				refused := found.Verdict == compare.Invalid && strings.HasPrefix(found.Reason, "other processes used 47.8 % of the CPUs beside go-epoll and 0 % beside go-net, ")
				if want := slices.Contains(c.refused, found.Metric); refused != want || found.Ratio == 0 {
					t.Errorf("%s is %s (%s)", found.Metric, found.Verdict, found.Reason)
				}
			}
			if want := "other processes used up to 47.8 % of the CPUs in 12 of 36 trials"; !slices.ContainsFunc(f.Warnings, func(w record.Warning) bool { return w.Text == want }) {
				t.Errorf("the warnings are %+v, want %q", f.Warnings, want)
			}
		})
	}
}

// A machine that others use reverses costs, so that it puts no statement to the test,
// whichever way its figures point.
func TestABusyMachineTestsNoStatement(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll"}}})
	h.Study.Expect = []record.Expectation{{Title: "epoll costs less", Source: "a publication", That: []string{"server.cpu_us_per_exchange of go-epoll < go-net ± 10 %"}}}
	if of := find(t, h, trials, records).Expect[0]; of.State != expect.DoesNotHold {
		t.Fatalf("on a quiet machine the statement %s (%s)", of.State, of.Ground)
	}
	besideOthers(records, "go-epoll", 0)
	of := find(t, h, trials, records).Expect[0]
	if of.State != expect.NotTestable || !strings.Contains(of.Reason, "of the CPUs beside go-epoll") || !strings.Contains(of.Elsewhere, "netdyno run") {
		t.Errorf("on a busy machine the statement %s (%s)", of.State, of.Ground)
	}
	for _, e := range of.Evidence {
		if e.State != expect.NotTestable || e.Value == 0 {
			t.Errorf("on a busy machine its evidence is %+v", e)
		}
	}
}

// Where others use more of the CPUs beside the one arm in some blocks and beside the other in
// others, what has time in it is compared at equal shares; a statement and a requirement on
// the same ratio rest on the same interval; the warning says so.
func TestBurstsOfOthersAreTakenOff(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 10, SD: 0.01, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll", Cost: 1.3}}})
	h.Study.Compare.Primary = []string{serverCPU}
	h.Study.Expect = []record.Expectation{{Title: "costs more", Source: "a publication", That: []string{serverCPU + " of go-epoll > go-net ± 10 %"}}}
	h.Study.Requires = []record.Require{{Metric: serverCPU, Arm: "go-epoll", Base: "go-net", Bound: 1}}
	besideSome(records, func(r record.Trial) bool {
		return r.Block < 2 && r.Arm == "go-epoll" || r.Block == 7 && r.Arm == "go-net"
	}, 800e6)
	f := find(t, h, trials, records)
	cell := 0
	for _, c := range f.Comparisons {
		if c.Metric == "server.rss_bytes" && c.EqualShares {
			t.Errorf("memory at equal shares: %+v", c)
		}
		if !c.Primary {
			continue
		}
		if !c.EqualShares || c.Verdict != compare.Worse || !near(c.Value/c.BaseValue, c.Ratio) {
			t.Errorf("%s is %s (%s): %v ÷ %v is %v", c.Metric, c.Verdict, c.Reason, c.Value, c.BaseValue, c.Ratio)
		}
		r := f.Requirements[cell]
		for _, e := range f.Expect {
			if !e.Must && (e.Evidence[cell].Low != c.Low || e.Evidence[cell].High != c.High) || r.Interval != c.Interval || !near(r.Low, c.Low) || !near(r.High, c.High) {
				t.Errorf("the statement has %+v and the requirement %+v, the verdict %v–%v", e.Evidence, r, c.Low, c.High)
			}
		}
		cell++
	}
	if !slices.ContainsFunc(f.Warnings, func(w record.Warning) bool { return strings.HasSuffix(w.Text, "; ratios are corrected for that") }) {
		t.Errorf("the warnings are %+v", f.Warnings)
	}
}

// besideOthers lets other processes use three quarters of what an arm's trials left idle,
// while each thread waited for a CPU for so long.
func besideOthers(records []record.Record, arm string, waitNs int64) {
	besideSome(records, func(of record.Trial) bool { return of.Arm == arm }, waitNs)
}

// besideSome is besideOthers of some trials.
func besideSome(records []record.Record, which func(record.Trial) bool, waitNs int64) {
	for i := range records {
		if !which(records[i].Trial) {
			continue
		}
		for j := range records[i].Workers {
			w := &records[i].Workers[j]
			for k := range w.Close.Meter.CPUs {
				theirs := (w.Close.Meter.CPUs[k].IdleNs - w.Open.Meter.CPUs[k].IdleNs) * 3 / 4
				w.Close.Meter.CPUs[k].IdleNs -= theirs
				w.Close.Meter.CPUs[k].UserNs += theirs
			}
			for k := range w.Close.Meter.Threads {
				w.Close.Meter.Threads[k].WaitNs += waitNs
			}
		}
	}
}

// A difference larger than all waiting for CPUs is judged beside others too.
func TestBesideOthersALargeDifferenceIsTold(t *testing.T) {
	for _, c := range []struct {
		rate float64 // of go-epoll ÷ go-net
		want compare.Verdict
	}{{30, compare.Better}, {1.5, compare.Invalid}} {
		h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll", Speed: c.rate}}})
		h.Study.Compare.Primary = []string{"exchanges_per_s"}
		besideOthers(records, "go-net", 800e6)
		for _, found := range find(t, h, trials, records).Comparisons {
			if found.Primary && found.Verdict != c.want {
				t.Errorf("%v times the rate is %s (%s)", c.rate, found.Verdict, found.Reason)
			}
		}
	}
}
