package native_test

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

// Clients tell the first byte of every reply and how each connection was made, whose parts are
// not longer than the exchange that they belong to; and sessions of TLS are resumed, by every
// connection after the verified one, where setup asks.
func TestStagesOfConnectionsForEveryExchange(t *testing.T) {
	const connections, amount = 2, 20
	certificate := workertest.Certificate(t)
	for ours, others := range encrypting {
		for _, server := range []string{ours, others[0]} {
			for name, c := range map[string]struct{ encrypted, resume bool }{"plain": {}, "full": {encrypted: true}, "resumed": {true, true}} {
				t.Run(fmt.Sprintf("%s to %s, %s", ours, server, name), func(t *testing.T) {
					t.Parallel()
					p := trial{client: ours, server: server, exchange: blocks(10, 1000), load: contract.Load{Connections: connections, Amount: amount, Fresh: true}}
					want := map[string]int64{"connect": connections * amount, "handshake": 0, "first byte": connections * amount, "waiting": 0, "resumed": 0}
					if c.encrypted {
						p.encrypted = certificate
						want["handshake"] = connections * amount
					}
					if c.resume {
						want["resumed"] = connections * amount
					}
					s, setup := p.setups()
					setup.Stages = true
					if c.encrypted {
						setup.TLS.Resume = c.resume
					}
					setup.Peers = start(t, server).setup(s).Addresses
					result := driven(t, ours, setup)
					if result.Stages == nil {
						t.Fatalf("no stages; counts %+v", result.Counts)
					}
					stages := *result.Stages
					got, sums := map[string]int64{"resumed": stages.Resumed}, map[string]float64{}
					for what, text := range map[string]string{"connect": stages.Connect, "handshake": stages.Handshake, "first byte": stages.FirstByte, "waiting": stages.Waiting, "service": result.Service} {
						got[what] = 0
						if text == "" {
							continue
						}
						h, err := hist.Decode(text)
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						got[what], sums[what] = h.Count(), h.MeanNs()*float64(h.Count())
					}
					for what, count := range want {
						if got[what] != count {
							t.Errorf("%s: %d, want %d; counts %+v, %+v", what, got[what], count, result.Counts, result.Reasons)
						}
					}
					const rounding = 1.01 // of histograms
					if made := sums["connect"] + sums["handshake"]; sums["connect"] <= 0 || c.encrypted && sums["handshake"] <= 0 || made > sums["service"]*rounding {
						t.Errorf("connections were made in %.0f and %.0f ns, exchanges in %.0f ns", sums["connect"], sums["handshake"], sums["service"])
					}
				})
			}
		}
	}
}
