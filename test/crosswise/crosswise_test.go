// Package crosswise_test pairs every client of wires echo and stream with every server of
// the same wire, in C++ and in Go, and demands that both ends count the same: all of them
// speak one wire. It takes the programs in bin/, where `make build` puts them, and skips
// without them.
package crosswise_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/kits"
	"netdyno/test/trials"
)

// TestEveryPairAgrees runs one short trial of each pair.
func TestEveryPairAgrees(t *testing.T) {
	b := benchtest.Built(t)
	// A fixed amount: its books must close exactly, however late a busy machine reads them.
	work := []string{"request=100000B", "connections=6", "inflight=3", "blocks=1", "amount=30", "placement=free"}
	for _, c := range []struct {
		name    string
		feature contract.Feature
		args    []string
	}{
		{"echo", "", []string{"response=100000B"}},
		{"sizes that vary", contract.FeatureSizes, []string{"request=uniform:1B..200000B", "response=uniform:1B..200000B"}},
		{"up", contract.FeatureStreamUp, []string{"stream=up", "response=1B", "chunk=7000B"}},
		{"down", contract.FeatureStreamDown, []string{"stream=down", "request=10B", "response=300000B", "chunk=64KiB"}},
		{"both", contract.FeatureStreamBoth, []string{"stream=both", "response=70000B", "chunk=4KiB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers, clients := ends(b.Catalog, c.feature)
			if len(servers) < 2 || len(clients) < 2 {
				t.Fatalf("servers %v and clients %v: nothing to cross", servers, clients)
			}
			args := replaced(work, c.args)
			args = append(args, "server="+strings.Join(servers, ","), "client="+strings.Join(clients, ","))
			agree(t, b, args)
		})
	}
}

// agree runs each pair. One that carries one exchange at a time on a connection says so, and
// runs with one.
func agree(t *testing.T, b *bench.Bench, args []string) {
	t.Helper()
	for _, cell := range trials.Run(t, b, args...).Findings.Cells {
		for _, arm := range cell.Arms {
			for _, judged := range arm.Trials {
				if judged.Status != trial.Valid && strings.Contains(judged.Reason, "unsupported: in_flight") && slices.Contains(args, "inflight=3") {
					one := []string{"server=" + arm.Name, "client=" + strings.TrimPrefix(cell.Name, "client="), "inflight=1"}
					agree(t, b, replaced(args, one))
				} else if judged.Status != trial.Valid {
					t.Errorf("server %s, %s: %s: %s", arm.Name, cell.Name, judged.Status, judged.Reason)
				}
			}
		}
	}
}

// ends lists the transports of wire echo that have a feature, by role.
func ends(catalog *bench.Catalog, feature contract.Feature) (servers, clients []string) {
	for _, o := range catalog.Offers() {
		if kits.Build("../..", filepath.Base(o.Program.Path)) && os.Getenv("NETDYNO_SOAK") == "" {
			continue // its pairs take minutes: make kits-test runs them
		}
		if o.Wire != "echo" || feature != "" && !slices.Contains(o.Features, feature) {
			continue
		}
		if o.Has(contract.Server) {
			servers = append(servers, o.Name)
		}
		if o.Has(contract.Client) {
			clients = append(clients, o.Name)
		}
	}
	return servers, clients
}

// replaced returns args with those keys that others have left to them.
func replaced(args, others []string) []string {
	key := func(arg string) string { name, _, _ := strings.Cut(arg, "="); return name }
	kept := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return slices.ContainsFunc(others, func(other string) bool { return key(other) == key(arg) })
	})
	return append(kept, others...)
}
