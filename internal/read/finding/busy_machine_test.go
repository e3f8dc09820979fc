package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
)

// A machine that others used before the run and in it is one line, with the largest
// share, whatever words the run was recorded with.
func TestABusyMachineIsOneWarning(t *testing.T) {
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
	var about []string
	for _, w := range f.Warnings {
		about = append(about, w.About)
		if w.About != "busy-machine" {
			continue
		}
		for _, part := range []string{"costs may compare the other way", "rates may be too low", "2 of ", "up to 1", "100 % of the CPUs are busy before the run (load average 15.16)", "the hypervisor takes 3.0 %"} {
			if !strings.Contains(w.Text, part) {
				t.Errorf("%q lacks %q", w.Text, part)
			}
		}
		if w.Advice == "" {
			t.Error("no advice")
		}
	}
	if all := strings.Join(about, " "); strings.Count(all, "busy-machine") != 1 || strings.Contains(all, "load") && !strings.Contains(all, "loopback") || strings.Contains(all, "steal") || !strings.Contains(all, "blocks") {
		t.Errorf("warnings about %s", all)
	}
}

// A machine that others use reverses costs, so that it puts no published conclusion to
// the test, whichever way its figures point.
func TestABusyMachineTestsNoPublishedClaim(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "go-epoll"}}})
	h.Study.Claims = []record.Claim{{
		Title: "epoll costs less", Source: "a publication",
		Parts: []record.ClaimPart{{Metric: "server.cpu_us_per_exchange", Is: record.Lower, Arms: []string{"go-epoll"}, Base: "go-net", Margin: 0.1}},
	}}
	if of := find(t, h, trials, records).Claims[0]; of.Outcome != compare.NoLongerHolds {
		t.Fatalf("on a quiet machine the claim %s (%s)", of.Outcome, of.Reason)
	}
	h.Study.Warnings = []record.Warning{{About: "busy-machine", Text: "100 % of the CPUs are busy before the run"}}
	of := find(t, h, trials, records).Claims[0]
	if of.Outcome != compare.NotTestable || of.State != compare.ClaimUndecided || !strings.Contains(of.Reason, "100 % of the CPUs") {
		t.Errorf("on a busy machine the claim %s, %s (%s)", of.Outcome, of.State, of.Reason)
	}
	for _, e := range of.Evidence {
		if e.State != compare.ClaimUndecided || !e.Untestable || e.Ratio == 0 {
			t.Errorf("on a busy machine its evidence is %+v", e)
		}
	}
	h.Study.Claims[0].Source = ""
	if of := find(t, h, trials, records).Claims[0]; of.Outcome != compare.NeverHeld {
		t.Errorf("on a busy machine the study's own claim %s (%s)", of.Outcome, of.Reason)
	}
}
