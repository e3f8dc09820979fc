package check

import (
	"fmt"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

const drawFix = "Compute each draw from seed and exchange number as contract/DRAWS.md says, and compare with vectors/sizes.json and schedule.json"

// drawRules concern what a transport draws, where it has the features.
var drawRules = []rule{
	{"drawn sizes", "Exchanges", "exchange k of slot i carries number i + k · slots of the seed's streams, and what is counted is what was drawn", drawFix, drawnSizes},
	{"drawn arrivals", "Load", "exchange number m is due at place(m)/rate, whose gaps are drawn", drawFix,
		scheduled(contract.Load{Rate: plainRate, Arrival: contract.Drawn, Gaps: contract.Table{{1 << 31, 0, 1 << 20}, {contract.TableEnd, 1 << 20, 2 << 20}}})},
	{"a rate that changes", "Load", "phases are stretches of time, each with the rates at its beginning and its end", drawFix,
		scheduled(contract.Load{Rate: plainRate, Phases: []contract.Phase{{60e6, 2 * plainRate, 2 * plainRate}, {60e6, 0, 0}}, Repeat: true})},
}

// needs skips a transport that lacks a feature.
func (s *subject) needs(feature contract.Feature) error {
	if !slices.Contains(s.transport.Features, feature) {
		return skipError{fmt.Sprintf("the transport does not have feature %s", feature)}
	}
	return nil
}

// drawnExchange is one of several sizes each way; on wire echo an answer is as long as what
// it answers.
func (s *subject) drawnExchange() contract.Exchange {
	table := contract.Table{{1 << 31, 1, 64}, {contract.TableEnd, 200, 3000}}
	down := contract.Table{{3 << 30, 0, 100}, {contract.TableEnd, 5000, 5000}}
	if s.transport.Wire == "echo" || s.transport.Wire == "quic" {
		down = table
	}
	return contract.Exchange{UpBytes: table.Most(), DownBytes: down.Most(), UpSizes: table, DownSizes: down, UpMeanBytes: table.Mean(), DownMeanBytes: down.Mean()}
}

func drawnSizes(s *subject) error {
	if err := s.needs(contract.FeatureSizes); err != nil {
		return err
	}
	const each = 25
	x := s.drawnExchange()
	e, err := s.connectOver(contract.Setup{Exchange: x, Load: contract.Load{Connections: connections, Amount: each}})
	if err != nil {
		return err
	}
	if err := e.start(); err != nil {
		return err
	}
	m, err := e.client.expect("result", setupTakes)
	if err != nil {
		return err
	}
	if err := drawnBytes(m.Result.Counts, x, s.complete(contract.Setup{}).Seed, each*connections); err != nil {
		return err
	}
	return e.finish()
}

// drawnBytes checks what a client counted of its first n exchanges.
func drawnBytes(got contract.Counts, x contract.Exchange, seed uint64, n int64) error {
	up, down := draw.NewDrawer(x.UpSizes, seed, draw.Up), draw.NewDrawer(x.DownSizes, seed, draw.Down)
	if slices.Equal(x.UpSizes, x.DownSizes) {
		down = up
	}
	sent, received := int64(0), int64(0)
	for i := range uint64(n) {
		sent, received = sent+up.Draw(i), received+down.Draw(i)
	}
	if got.Exchanges != n || got.SentBytes != sent || got.ReceivedBytes != received {
		return fmt.Errorf("result says %d exchanges, %d bytes sent and %d received; exchanges 0 to %d draw %d up and %d down",
			got.Exchanges, got.SentBytes, got.ReceivedBytes, n-1, sent, received)
	}
	return nil
}

// scheduled is an open loop whose schedule is drawn or changes, over whole periods, of a
// transport that has the feature.
func scheduled(load contract.Load) func(*subject) error {
	paced := openLoop(load, 1200*time.Millisecond, 0.3)
	return func(s *subject) error {
		if err := s.needs(contract.FeatureArrivals); err != nil {
			return err
		}
		return paced(s)
	}
}
