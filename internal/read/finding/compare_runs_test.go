package finding_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// tellsOf is a calibration of a machine on which like runs differ by between.
func tellsOf(between float64, runs int) *record.Calibration {
	s := record.Spread{Absolute: between, Relative: between, Runs: runs}
	return &record.Calibration{Spreads: map[string]record.Spread{serverCPU: s, "exchanges_per_s": s}}
}

// ofArm returns the primary comparison of an arm.
func ofArm(t *testing.T, a history.RunsCompared, arm string) compare.Comparison {
	t.Helper()
	for _, c := range a.Comparisons {
		if c.Primary && c.Arm == arm {
			return c
		}
	}
	t.Fatalf("no primary comparison of %s in %+v", arm, a.Comparisons)
	return compare.Comparison{}
}

func runOf(t *testing.T, seed uint64, cost float64) finding.Findings {
	t.Helper()
	return findIn(t, synthetic.Options{
		Bare: true, Rate: 20000, Connections: []int{50}, Primary: []string{serverCPU}, Blocks: 8, SD: 0.005, BlockSD: 0.1, Seed: seed,
		Arms: []synthetic.Arm{{Name: "floor"}, {Name: "arm", Cost: cost}},
	})
}

// A change is told where it is more than like runs differ, and only there.
func TestApart(t *testing.T) {
	before, same, dearer := runOf(t, 1, 1), runOf(t, 2, 1), runOf(t, 3, 1.15)
	for name, x := range map[string]struct {
		after       finding.Findings
		calibration *record.Calibration
		want        compare.Verdict
		gate        compare.GateResult
	}{
		"a dearer arm on a steady machine":   {dearer, tellsOf(0.005, 16), compare.Worse, compare.IsWorse},
		"a dearer arm on an unsteady one":    {dearer, tellsOf(0.15, 16), compare.CannotTell, compare.Unproven},
		"a dearer arm, nothing calibrated":   {dearer, nil, compare.Worse, compare.IsWorse},
		"the same, nothing calibrated":       {same, nil, compare.CannotTell, compare.Unproven},
		"the same on a steady machine":       {same, tellsOf(0.002, 16), compare.Equivalent, compare.Unproven}, // the floor's own drift stays open
		"calibrated of another metric alone": {dearer, &record.Calibration{Spreads: map[string]record.Spread{"work_s": {Runs: 8}}}, compare.Worse, compare.IsWorse},
	} {
		a := history.CompareRuns(before.Run, x.after.Run, x.calibration)
		if c := ofArm(t, a, "arm"); c.Verdict != x.want || c.Base != "floor" {
			t.Errorf("%s: %s against %q (%s), want %s", name, c.Verdict, c.Base, c.Reason, x.want)
		}
		if a.Result != x.gate {
			t.Errorf("%s: gate %v, want %v", name, a.Result, x.gate)
		}
	}
}

// A run made beside other processes shows how the kernel divided the CPUs, and no change.
func TestApartRefusesARunBesideOthers(t *testing.T) {
	before, after := runOf(t, 1, 1), runOf(t, 3, 1.15)
	for i := range after.Cells[0].Arms[1].Trials {
		after.Cells[0].Arms[1].Trials[i].Others = 0.5
	}
	c := ofArm(t, history.CompareRuns(before.Run, after.Run, tellsOf(0.005, 16)), "arm")
	if want := "other processes used 50.0 % of the CPUs beside arm in the second run"; c.Verdict != compare.Invalid || !strings.HasPrefix(c.Reason, want) {
		t.Errorf("%s (%s), want invalid (%s)", c.Verdict, c.Reason, want)
	}
}

// A run in which something failed proves that nothing is worse as little as one
// whose figures are open.
func TestApartDoubtsWhatFailed(t *testing.T) {
	calibration := tellsOf(1e-6, 16)
	run := func() finding.Findings {
		return findIn(t, synthetic.Options{
			Bare: true, Rate: 20000, Connections: []int{50}, Primary: []string{serverCPU}, Blocks: 8, SD: 0.0005, Seed: 1,
			Arms: []synthetic.Arm{{Name: "floor"}, {Name: "arm"}},
		})
	}
	before, after := run(), run()
	if a := history.CompareRuns(before.Run, after.Run, calibration); a.Result != compare.NoWorse || a.Caveats != nil {
		t.Fatalf("gate %v of a run and itself, in doubt %q", a.Result, a.Caveats)
	}
	failed := &after.Cells[0].Arms[1].Trials[0]
	failed.Errors, failed.Status = 1, trial.StatusInvalid
	want := "in the second, exchanges of arm at 50 connections failed, and no requirement that is met allows that"
	if a := history.CompareRuns(before.Run, after.Run, calibration); a.Result != compare.Unproven || !slices.Equal(a.Caveats, []string{want}) {
		t.Errorf("gate %v, in doubt %q; want %q", a.Result, a.Caveats, want)
	}
}

// What differs before any figure is listed, and what makes figures incomparable
// bars the verdict.
func TestApartLooksAtFactsFirst(t *testing.T) {
	steady := tellsOf(0.002, 16)
	for name, x := range map[string]struct {
		change   func(*finding.Findings)
		text     string
		decisive bool
		barred   bool // the arm, though nothing is decisive
	}{
		"another kernel":         {func(f *finding.Findings) { host(f, "kernel.release", "7.0") }, "kernel.release", true, true},
		"a busy machine":         {func(f *finding.Findings) { host(f, "load.busy_share", "0.6") }, "before the first run, 60.0 % before the second", false, false},
		"another setting":        {func(f *finding.Findings) { host(f, "net.core.somaxconn", "1") }, "net.core.somaxconn", false, false},
		"another load":           {func(f *finding.Findings) { f.Header.Study.Hold = map[string]string{"rate": "9"} }, "rate was not set, then 9", true, true},
		"a longer window":        {func(f *finding.Findings) { f.Header.Study.Hold = map[string]string{"window": "9s"} }, "window was not set, then 9s", false, false},
		"another client":         {func(f *finding.Findings) { f.Cells[0].Arms[1].Settings["client.transport"] = "go-http1" }, "client.transport was not set, then go-http1", false, true},
		"another rig":            {func(f *finding.Findings) { f.Header.Facts.Rig = "ssh" }, "then ssh", true, true},
		"another floor":          {func(f *finding.Findings) { f.Header.Study.Compare.Baseline = "arm" }, "its baseline was floor, then arm", true, true},
		"another build":          {func(f *finding.Findings) { f.Header.Facts.Tools = map[string]record.Binary{"w": {SHA256: "other"}} }, "w is a different program", false, false},
		"another option's value": {func(f *finding.Findings) { f.Cells[0].Arms[1].Settings = map[string]string{"server.buffer": "8192"} }, "server.buffer was 4096, then 8192", false, true},
		"nothing in common":      {func(f *finding.Findings) { f.Cells[0].Name, f.Cells[0].Levels = "elsewhere", nil }, "no arm of a cell is in both", true, true},
	} {
		before, after := runOf(t, 1, 1), runOf(t, 2, 1)
		for _, f := range []*finding.Findings{&before, &after} {
			f.Header.Study.Hold = nil
			f.Header.Facts.Tools = map[string]record.Binary{"w": {SHA256: "one"}}
			f.Cells[0].Arms[1].Settings = map[string]string{"server.buffer": "4096"}
		}
		x.change(&after)
		a := history.CompareRuns(before.Run, after.Run, steady)
		found, decisive := false, false
		for _, d := range a.Differences {
			found, decisive = found || strings.Contains(d.Text, x.text), decisive || d.Decisive
		}
		if !found || decisive != x.decisive {
			t.Errorf("%s: differences %+v, want one with %q, decisive %t", name, a.Differences, x.text, x.decisive)
		}
		if x.decisive && a.Result != compare.Unproven {
			t.Errorf("%s: gate %v", name, a.Result)
		}
		for _, c := range a.Comparisons {
			if c.Primary && c.Arm == "arm" && (c.Verdict == compare.Invalid) != x.barred {
				t.Errorf("%s: %s is %s (%s)", name, c.Arm, c.Verdict, c.Reason)
			}
		}
	}
}

// Addresses, ports, directories, secrets and the names made of them are no conditions.
func TestApartTakesNamesForNoConditions(t *testing.T) {
	const floor, arm = 0, 1
	settings := func(port, directory, secret string) map[string]string {
		return map[string]string{
			"server.transport": "address", "server.address": "127.0.0.1:" + port, "client.host": "localhost:" + port, "client.sni": "a" + port, "client.path": "/",
			"client.body": "@" + directory + "/given/5f", "client.ca": directory + "/ca.pem", "client.headers": "@/home/u/.cache/netdyno/secret/1/" + secret,
			"server.command": directory + "/echod -p " + directory + "/conf",
		}
	}
	runs := []finding.Findings{runOf(t, 1, 1), runOf(t, 2, 1.3)}
	for i, port := range []string{"8080", "8081"} {
		of := &runs[i].Cells[0]
		of.Arms[floor].Name, of.Arms[arm].Name = "127.0.0.1:"+port, "127.0.0.1:"+port+"/x"
		of.Arms[floor].Settings, of.Arms[arm].Settings = settings(port, "/tmp/"+port, port), settings(port, "/tmp/"+port, port)
		runs[i].Header.Study.Compare.Baseline = of.Arms[floor].Name
		runs[i].Header.Study.Hold = map[string]string{"opt.server.address": "127.0.0.1:" + port, "opt.client.cert": "/tmp/" + port + "/cert.pem", "build": port}
	}
	a := history.CompareRuns(runs[0].Run, runs[1].Run, tellsOf(0.005, 16))
	for _, d := range a.Differences {
		if d.Decisive || d.About != "address" || d.May == "" {
			t.Errorf("differs in %+v", d)
		}
	}
	if c := ofArm(t, a, "127.0.0.1:8081/x"); c.Verdict != compare.Worse || len(a.Differences) == 0 {
		t.Errorf("%s (%s), %d differences; want worse and a line about the address", c.Verdict, c.Reason, len(a.Differences))
	}
	for _, want := range []string{"Worse: server CPU", "% higher", "by which two runs of the same differ here"} {
		if !strings.Contains(a.Sentence, want) {
			t.Errorf("%q lacks %q", a.Sentence, want)
		}
	}
	runs[1].Cells[0].Arms[arm].Settings["client.path"] = "/other"
	runs[1].Cells[0].Arms[arm].Settings["client.body"] = "@/tmp/8081/given/60"
	if c := ofArm(t, history.CompareRuns(runs[0].Run, runs[1].Run, nil), "127.0.0.1:8081/x"); !strings.Contains(c.Reason, "client.path") || !strings.Contains(c.Reason, "client.body") {
		t.Errorf("another path and body: %s (%s)", c.Verdict, c.Reason)
	}
}

// A load that one run holds and the other varies is one load.
func TestApartFindsALoadInBothRuns(t *testing.T) {
	before, after := runOf(t, 1, 1), runOf(t, 2, 1)
	before.Cells[0].Levels, before.Header.Study.Hold = map[string]string{"connections": "50"}, map[string]string{}
	after.Cells[0].Name, after.Cells[0].Levels, after.Header.Study.Hold = "", nil, map[string]string{"connections": "50"}
	for i := range after.Comparisons {
		after.Comparisons[i].Cell = ""
	}
	a := history.CompareRuns(before.Run, after.Run, nil)
	if ofArm(t, a, "arm"); len(a.Differences) > 0 {
		t.Errorf("differences %+v", a.Differences)
	}
}

// host changes a fact of every seat.
func host(f *finding.Findings, fact, value string) {
	seats := map[string]record.Host{}
	for seat, h := range f.Header.Facts.Seats {
		values := maps.Clone(h.Values)
		values[fact] = value
		seats[seat] = record.Host{Values: values}
	}
	f.Header.Facts.Seats = seats
}

// Like runs whose arms were moved by the moment, each its own way, are called
// different in one comparison of twenty at most, when the machine was
// calibrated in eight short runs of the same kind, or differs by no more than is assumed
// where nothing was.
func TestLikeRunsApartAreSeldomCalledDifferent(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: hundreds of simulated runs")
	}
	rng := rand.New(rand.NewPCG(6, 7))
	for _, between := range []float64{0.01, 0.05} {
		wrong, all, assumed := 0, 0, 0
		for i := range 150 {
			moved := func() float64 { return math.Exp(between * rng.NormFloat64()) }
			short := make([]float64, 8)
			for k := range short {
				short[k] = math.Log(moved())
			}
			c := history.Calibration("loopback", []record.Calibrated{{Scatter: map[string]record.Scatter{
				serverCPU: {Trial: 0.005, Absolute: short, Relative: short},
			}}})
			before, after := runOf(t, uint64(2*i), moved()), runOf(t, uint64(2*i+1), moved())
			a := history.CompareRuns(before.Run, after.Run, c)
			all++
			if v := ofArm(t, history.CompareRuns(before.Run, after.Run, nil), "arm").Verdict; v == compare.Worse || v == compare.Better {
				assumed++
			}
			if v := ofArm(t, a, "arm").Verdict; v == compare.Worse || v == compare.Better {
				wrong++
			}
		}
		t.Logf("between runs %.2f: %d of %d; uncalibrated %d", between, wrong, all, assumed)
		if between < history.DefaultSpread && float64(assumed) > 0.05*float64(all) {
			t.Errorf("like runs that differ by %v: %d of %d called different without a calibration", between, assumed, all)
		}
		if float64(wrong) > 0.05*float64(all) {
			t.Errorf("like runs that differ by %v: %d of %d called different", between, wrong, all)
		}
	}
}
