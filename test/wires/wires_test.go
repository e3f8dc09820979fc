// Package wires_test makes one whole run for each wire, from the command line to the page,
// with the workers in Go.
package wires_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/test/programs"
)

// encrypted are the wires that are never plain.
var encrypted = []string{"h3", "quic"}

func TestEveryWire(t *testing.T) {
	plain, tls := spoken(t)
	carries(t, "transport="+strings.Join(plain, ","))
	carries(t, "transport="+strings.Join(tls, ","), "tls=yes")
	carries(t, "transport=go-net", "stream=down")
}

// spoken returns a transport for each wire that a worker of the main module speaks at both
// ends, so that a new wire is here without a word.
func spoken(t *testing.T) (plain, tls []string) {
	t.Helper()
	var wires []string
	catalog := bench.Discover(t.Context(), []string{filepath.Dir(programs.Path(t, "netdyno"))})
	for _, o := range catalog.Offers() {
		name := filepath.Base(o.Program.Path)
		if _, err := os.Stat(filepath.Join("../../cmd", name)); err != nil || name == "netdyno-worker-exec" {
			continue // in another language, of another module, or somebody's programs
		}
		if !o.Has(contract.Server) || !o.Has(contract.Client) || slices.Contains(wires, o.Wire) {
			continue
		}
		wires = append(wires, o.Wire)
		if slices.Contains(encrypted, o.Wire) {
			tls = append(tls, o.Name)
		} else {
			plain = append(plain, o.Name)
		}
	}
	for _, wire := range append([]string{"echo", "http/1.1", "h2c", "grpc:netdyno.v1"}, encrypted...) {
		if !slices.Contains(wires, wire) {
			t.Errorf("nobody speaks %s; found %q", wire, wires)
		}
	}
	return plain, tls
}

// carries makes a run, each of whose trials must have moved something. A busy machine may
// leave trials without a valid rate, of which nothing is asked here.
func carries(t *testing.T, study ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	args := slices.Concat([]string{"run"}, study, []string{"connections=2", "warmup=100ms", "window=200ms", "blocks=1", "probes=0", "--out", dir})
	said, _ := exec.CommandContext(t.Context(), programs.Path(t, "netdyno"), args...).CombinedOutput()
	contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
	if err != nil || len(contents.Records) < 2 { // the baseline runs twice
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, said)
	}
	for _, r := range contents.Records {
		if r.Outcome != record.OK {
			t.Errorf("%s: trial %s is %s: %+v", strings.Join(study, " "), r.Trial.ID, r.Outcome, r.Failure)
			continue
		}
		for _, w := range r.Workers {
			if w.Role == contract.Client && w.Result.Counts.SentBytes+w.Result.Counts.ReceivedBytes == 0 {
				t.Errorf("%s: in trial %s nothing moved: %+v", strings.Join(study, " "), r.Trial.ID, w.Result.Counts)
			}
		}
	}
	if page, err := os.Stat(filepath.Join(dir, "report.html")); err != nil || page.Size() == 0 {
		t.Errorf("%s has no page: %v\n%s", strings.Join(study, " "), err, said)
	}
}
