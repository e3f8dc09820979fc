package check

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

const mixFix = "Compute each draw from seed and exchange number as contract/MIXES.md says, and compare with vectors/mix.json and think.json"

// mixRules concern classes, where a transport has the feature.
var mixRules = []rule{
	{"classes", "Exchanges", "exchange number n is of the class that number n of stream 4 draws, and is counted in it", mixFix, mixedClasses},
}

// mixedExchange are classes of sizes that no two have in common, and what they are together;
// on wire echo an answer is as long as what it answers.
func (s *subject) mixedExchange() (contract.Exchange, []contract.Class) {
	classes := []contract.Class{
		{Name: "small", End: 6 * (contract.TableEnd / 10), UpBytes: 10, DownBytes: 100},
		{Name: "varied", End: 9 * (contract.TableEnd / 10), UpBytes: 300, DownBytes: 2000, UpSizes: contract.Table{{contract.TableEnd, 200, 300}}},
		{Name: "large", End: contract.TableEnd, UpBytes: 40, DownBytes: 9000},
	}
	x := contract.Exchange{}
	for i := range classes {
		c := &classes[i]
		if s.transport.Wire == "echo" || s.transport.Wire == "quic" {
			if c.DownBytes, c.DownSizes = c.UpBytes, c.UpSizes; i == 2 {
				c.UpBytes, c.DownBytes = 9000, 9000
			}
		}
		x.UpBytes, x.DownBytes = max(x.UpBytes, c.UpBytes), max(x.DownBytes, c.DownBytes)
	}
	// A server is told what all classes are together: any size up to the largest.
	x.UpSizes, x.DownSizes = contract.Table{{contract.TableEnd, 1, x.UpBytes}}, contract.Table{{contract.TableEnd, 1, x.DownBytes}}
	x.UpMeanBytes, x.DownMeanBytes = x.UpSizes.Mean(), x.DownSizes.Mean()
	return x, classes
}

// mixedClasses runs a few exchanges of classes and compares what was counted of each.
func mixedClasses(s *subject) error {
	for _, feature := range []contract.Feature{contract.FeatureMix, contract.FeatureSizes} {
		if err := s.needs(feature); err != nil {
			return err
		}
	}
	x, classes := s.mixedExchange()
	const each = 25
	e, err := s.connectOver(contract.Setup{Exchange: x, Load: contract.Load{Connections: connections, Amount: each, Classes: classes}})
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
	if err := classesAgree(m.Result, classes, s.complete(contract.Setup{}).Seed, each*connections); err != nil {
		return err
	}
	return e.finish()
}

// classesAgree checks what a client counted of the first n exchanges by class.
func classesAgree(got *contract.Result, classes []contract.Class, seed uint64, n int64) error {
	var ends contract.Table
	for i, c := range classes {
		ends = append(ends, contract.Segment{c.End, int64(i), int64(i)})
	}
	which, up, down := draw.NewDrawer(ends, seed, draw.Classes), make([]*draw.Drawer, len(classes)), make([]*draw.Drawer, len(classes))
	for i, c := range classes {
		if len(c.UpSizes) > 0 {
			up[i] = draw.NewDrawer(c.UpSizes, seed, draw.Up)
		}
		if len(c.DownSizes) > 0 {
			down[i] = draw.NewDrawer(c.DownSizes, seed, draw.Up) // where both ways have one table they are one draw
		}
	}
	want := make([]contract.ClassResult, len(classes))
	for k := range uint64(n) {
		i := which.Draw(k)
		sent, received := classes[i].UpBytes, classes[i].DownBytes
		if up[i] != nil {
			sent = up[i].Draw(k)
		}
		if down[i] != nil {
			received = down[i].Draw(k)
		}
		w := &want[i]
		w.Name, w.Exchanges, w.SentBytes, w.ReceivedBytes = classes[i].Name, w.Exchanges+1, w.SentBytes+sent, w.ReceivedBytes+received
	}
	if len(got.Classes) != len(want) {
		return fmt.Errorf("result has %d classes and setup.load %d, expected the same in the same order", len(got.Classes), len(want))
	}
	for i, w := range want {
		g := got.Classes[i]
		if g.Name != classes[i].Name || g.Exchanges != w.Exchanges || g.SentBytes != w.SentBytes || g.ReceivedBytes != w.ReceivedBytes {
			return fmt.Errorf("class %s: result says %d exchanges, %d bytes sent and %d received; exchanges 0 to %d draw %d of it, with %d up and %d down",
				classes[i].Name, g.Exchanges, g.SentBytes, g.ReceivedBytes, n-1, w.Exchanges, w.SentBytes, w.ReceivedBytes)
		}
	}
	return nil
}

// rules are all that concern a transport.
func rules() []rule { return slices.Concat(transportRules, streamRules, drawRules, mixRules) }
