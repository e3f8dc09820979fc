// Package crosswise_test pairs every client of wires echo and stream with every server of
// the same wire, and those of HTTP and gRPC that are on a kit, and demands that both ends count
// the same: all of them speak one wire. It takes the programs in bin/, where `make build` puts them, and skips
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
			servers, clients := ends(b.Catalog, func(o bench.Offer) bool {
				return o.Wire == "echo" && (thorough || !ofAKit(o)) && (c.feature == "" || slices.Contains(o.Features, c.feature))
			})
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

// thorough is how make kits-test runs the pairs: those of the kits' ends take minutes.
var thorough = os.Getenv("NETDYNO_SOAK") != ""

// ofAKit tells whether make kits builds an end.
func ofAKit(o bench.Offer) bool { return kits.Build("../..", filepath.Base(o.Program.Path)) }

// ends lists the transports that are chosen, by role.
func ends(catalog *bench.Catalog, chosen func(bench.Offer) bool) (servers, clients []string) {
	for _, o := range catalog.Offers() {
		if !chosen(o) {
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

// TestEveryPairOfAKitsCallsAgrees runs one short trial of each pair of wires of HTTP and gRPC,
// one of whose ends is on a kit.
func TestEveryPairOfAKitsCallsAgrees(t *testing.T) {
	if !thorough {
		t.Skip("some hundred pairs: make kits-test")
	}
	b := benchtest.Built(t)
	work := []string{"connections=3", "blocks=1", "amount=20", "placement=free"}
	for _, wire := range []struct {
		name string
		args []string
	}{
		{"http/1.1", []string{"inflight=1"}},
		{"h2c", []string{"inflight=3"}},
		{"grpc:netdyno.v1", []string{"inflight=3"}},
	} {
		for _, c := range []struct {
			name   string
			needed func(bench.Offer) bool
			args   []string
		}{
			{"bytes", func(bench.Offer) bool { return true }, []string{"request=3000B", "response=20000B"}},
			{"sizes that vary", func(o bench.Offer) bool { return slices.Contains(o.Features, contract.FeatureSizes) },
				[]string{"request=uniform:1B..3000B", "response=uniform:1B..20000B"}},
			{"JSON", func(o bench.Offer) bool { return slices.Contains(o.Codecs, "json") }, []string{"codec=json", "message=complex"}},
			{"protobuf", func(o bench.Offer) bool { return slices.Contains(o.Codecs, "proto") }, []string{"codec=proto", "message=complex"}},
		} {
			t.Run(wire.name+"/"+c.name, func(t *testing.T) {
				able := func(o bench.Offer) bool { return o.Wire == wire.name && c.needed(o) }
				servers, clients := ends(b.Catalog, able)
				kitServers, kitClients := ends(b.Catalog, func(o bench.Offer) bool { return able(o) && ofAKit(o) })
				others := slices.DeleteFunc(clients, func(name string) bool { return slices.Contains(kitClients, name) })
				if len(kitServers)+len(kitClients) == 0 {
					t.Skip("no kit has such an end")
				}
				args := slices.Concat(work, wire.args, c.args)
				for _, pair := range [][2][]string{{servers, kitClients}, {kitServers, others}} {
					if len(pair[0]) > 0 && len(pair[1]) > 0 {
						agree(t, b, append(slices.Clip(args), "server="+strings.Join(pair[0], ","), "client="+strings.Join(pair[1], ",")))
					}
				}
			})
		}
	}
}

// replaced returns args with those keys that others have left to them.
func replaced(args, others []string) []string {
	key := func(arg string) string { name, _, _ := strings.Cut(arg, "="); return name }
	kept := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return slices.ContainsFunc(others, func(other string) bool { return key(other) == key(arg) })
	})
	return append(kept, others...)
}
