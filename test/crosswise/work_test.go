package crosswise_test

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

// Every server that says that it works does so, for each exchange: no reply comes before
// its work is done, and work on a CPU is CPU time of the server, however many requests are in
// flight on a connection.
func TestServersWorkForEachExchange(t *testing.T) {
	b := benchtest.Built(t)
	const workUs = 2000
	for _, by := range []contract.WorkBy{contract.WorkCPU, contract.WorkSleep} {
		for _, server := range workers(b.Catalog, by) {
			t.Run(string(by)+"/"+server.Name, func(t *testing.T) {
				args := []string{"server=" + server.Name, "client=" + server.Name, "work=2ms", "work.by=" + string(by),
					"request=1000B", "response=1000B", "blocks=1", "amount=12", "warmup=0s", "placement=free"}
				if !server.Has(contract.Client) {
					args[1] = "client=go-http1"
				}
				if server.Wire == "http/1.1" || server.Wire == "websocket" || server.Name == "go-connect" { // one exchange at a time on a connection
					args = append(args, "connections=6")
				} else {
					args = append(args, "connections=2", "inflight=3")
				}
				if server.Encrypted {
					args = append(args, "tls=yes")
				}
				r, judged := trials.First(t, b, args...)
				if judged.Status != trial.Valid {
					t.Fatalf("%s: %s", judged.Status, judged.Reason)
				}
				if p50, ok := judged.Values.Of(metric.ServiceP50); !ok || p50 < workUs {
					t.Errorf("the median takes %v µs, of which work is %v", p50, workUs)
				}
				cpu, ok := value(t, &r, "server.cpu_us_per_exchange")
				if !ok || by == contract.WorkCPU && cpu < workUs || by == contract.WorkSleep && cpu > workUs {
					t.Errorf("an exchange takes %v µs of the server's CPU, with %v µs of work by %s", cpu, workUs, by)
				}
			})
		}
	}
}

// workers lists the servers that have a kind of work.
func workers(catalog *bench.Catalog, by contract.WorkBy) (servers []bench.Offer) {
	for _, o := range catalog.Offers() {
		if o.Has(contract.Server) && slices.Contains(o.Features, (&contract.Work{By: by}).Feature()) {
			servers = append(servers, o)
		}
	}
	return servers
}
