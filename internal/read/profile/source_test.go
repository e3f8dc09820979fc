package profile

import (
	"math"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// What Go's own profiler and what perf see of the same work.
var (
	own = synthetic.Profile([]synthetic.Stack{
		{Functions: []string{"internal/runtime/syscall/linux.Syscall6", "net.(*conn).Write"}, CPU: 800 * time.Millisecond},
		{Functions: []string{"bufio.(*Reader).Peek", "net/http.(*conn).serve"}, CPU: 200 * time.Millisecond},
	})
	outside = synthetic.Profile([]synthetic.Stack{
		{Functions: []string{"tcp_sendmsg", "do_syscall_64", "internal/runtime/syscall/linux.Syscall6", "net.(*conn).Write"}, Kernel: 2, CPU: 500 * time.Millisecond},
		{Functions: []string{"_copy_from_iter", "tcp_sendmsg", "internal/runtime/syscall/linux.Syscall6", "net.(*conn).Write"}, Kernel: 2, CPU: 300 * time.Millisecond},
		{Functions: []string{"bufio.(*Reader).Peek", "net/http.(*conn).serve"}, CPU: 200 * time.Millisecond},
	})
	hidden = synthetic.Profile([]synthetic.Stack{
		{Functions: []string{hiddenKernel + " by kernel.kptr_restrict]", "write"}, Kernel: 1, CPU: time.Second},
	})
	stripped = synthetic.Profile([]synthetic.Stack{{Functions: []string{"[nginx]", "[nginx]"}, CPU: time.Second}})
)

// probedBy is a run of two arms; take says what the first worker of each probe left.
func probedBy(t *testing.T, take func(arm string, w *record.Worker)) *cells.Dataset {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 2}}, Blocks: 3, Connections: []int{50}, Bare: true, Probes: []synthetic.Stack{{Functions: []string{"main.x"}, CPU: time.Second}},
	})
	for i := range records {
		if r := &records[i]; r.Trial.Probe {
			w := &r.Workers[0]
			w.Result.Profile = nil
			if w.AtResult == nil {
				w.AtResult = &contract.Meter{}
			}
			take(r.Trial.Arm, w)
		}
	}
	s, err := cells.Read(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func byPerf(w *record.Worker, pprof []byte) {
	w.AtResult.Sampled = &contract.Sampled{Source: "perf", Hz: 997, Samples: 1000, Pprof: pprof}
}

// Profiles that were taken by different means are compared in what both see, and sum to
// the whole all the same; one that saw no kernel is not divided.
func TestDifferencesOfDifferentSources(t *testing.T) {
	for _, c := range []struct {
		name   string
		take   func(arm string, w *record.Worker)
		source Source
		parts  map[string]float64 // shares of arm a's cost
	}{
		{"both by perf", func(_ string, w *record.Worker) { byPerf(w, outside) }, Perf, map[string]float64{"kernel: TCP/IP": 0.5, "kernel: copying": 0.3, "library": 0.2}},
		{"both by Go", func(_ string, w *record.Worker) { w.Result.Profile = own }, Runtime, map[string]float64{"system calls": 0.8, "library": 0.2}},
		{"perf before Go", func(_ string, w *record.Worker) { byPerf(w, outside); w.Result.Profile = own }, Perf, map[string]float64{"kernel: TCP/IP": 0.5, "kernel: copying": 0.3, "library": 0.2}},
		{"one of each", func(arm string, w *record.Worker) {
			if w.Result.Profile = own; arm == "a" {
				byPerf(w, outside)
			}
		}, Mixed, map[string]float64{"system calls": 0.8, "library": 0.2}},
		{"perf saw no kernel", func(_ string, w *record.Worker) { byPerf(w, stripped); w.Result.Profile = own }, Runtime, map[string]float64{"system calls": 0.8, "library": 0.2}},
		{"nothing else did", func(_ string, w *record.Worker) { byPerf(w, stripped) }, NoKernel, nil},
	} {
		var found *Difference
		for _, d := range Differences(probedBy(t, c.take)) {
			if d.End == "server" {
				found = &d
			}
		}
		if found == nil || found.Source != c.source || len(found.Activities) != len(c.parts) {
			t.Errorf("%s: %+v, want source %s and %d activities", c.name, found, c.source, len(c.parts))
			continue
		}
		for _, part := range found.Activities {
			if share := part.Base / found.Whole.Base; math.Abs(share-c.parts[part.Name]) > 1e-9 {
				t.Errorf("%s: %s is %v of a's cost, want %v", c.name, part.Name, share, c.parts[part.Name])
			}
		}
	}
}

// What a profile does not show is said once for all ends that have the same trouble, with
// what helps; a good one is not warned of.
func TestBlindSpotsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name       string
		take       func(arm string, w *record.Worker)
		want, help string
	}{
		{"perf is missing", func(_ string, w *record.Worker) {
			w.AtResult.Sampled = &contract.Sampled{Source: "perf", Why: "perf is not on this host's PATH"}
		}, "a (server), b (server): perf took no samples: perf is not on this host's PATH", "netdyno doctor"},
		{"stripped", func(arm string, w *record.Worker) {
			if byPerf(w, outside); arm == "b" {
				byPerf(w, stripped)
			}
		}, "b (server): at least a tenth of the samples are of code whose functions have no names", "do not strip"},
		{"no kernel", func(_ string, w *record.Worker) { byPerf(w, stripped) }, "a (server), b (server): perf was not permitted to see the kernel", "perf_event_paranoid=1"},
		{"hidden names", func(_ string, w *record.Worker) { byPerf(w, hidden) }, "a (server), b (server): the names of the kernel's functions are hidden", "kptr_restrict=0"},
		{"lost", func(_ string, w *record.Worker) { byPerf(w, outside); w.AtResult.Sampled.Lost = 200 }, "a (server), b (server): perf lost at least 5 % of the samples", "another CPU"},
	} {
		_, warnings := Profiles(probedBy(t, c.take))
		said := ""
		for _, w := range warnings {
			if strings.HasPrefix(w.Text, c.want) && strings.Contains(w.Advice, c.help) {
				said = w.Text
			}
		}
		if (said == "") != (c.want == "") || c.want == "" && len(warnings) > 0 {
			t.Errorf("%s: %+v, want %q and %q", c.name, warnings, c.want, c.help)
		}
	}
}
