package check

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/traffic"
)

const mixFix = "Compute each draw from seed and exchange number as contract/MIXES.md says, and compare with vectors/mix.json and think.json"

// mixRules concern classes and recorded traffic, where a transport has the features.
var mixRules = []rule{
	{"classes", "Exchanges", "exchange number n is of the class that number n of stream 4 draws, and is counted in it", mixFix, mixedClasses},
	{"pauses of classes", "Load", "a slot of a closed loop waits for its class's think_ns after an exchange", mixFix, pausingClasses},
	{"recorded traffic", "Load", "requests are due at their recorded times, each with its class and sizes, from the first again after the last",
		"Read the file as contract/MIXES.md says, ahead of the slots, and give each request to the slot that is free first", replayed},
	{"recorded times", "Load", "with trace.times a request says when an exchange is due, and nothing of what it carries",
		"Take dues from the file and sizes from exchange", replayedTimes},
}

// mixedExchange are classes of sizes that no two have in common, and what they are together;
// on wire echo an answer is as long as what it answers.
func (s *subject) mixedExchange(think bool) (contract.Exchange, []contract.Class) {
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
		if think {
			c.ThinkNs = int64(pause)
		}
		x.UpBytes, x.DownBytes = max(x.UpBytes, c.UpBytes), max(x.DownBytes, c.DownBytes)
	}
	// A server is told what all classes are together: any size up to the largest.
	x.UpSizes, x.DownSizes = contract.Table{{contract.TableEnd, 1, x.UpBytes}}, contract.Table{{contract.TableEnd, 1, x.DownBytes}}
	x.UpMeanBytes, x.DownMeanBytes = x.UpSizes.Mean(), x.DownSizes.Mean()
	return x, classes
}

func mixedClasses(s *subject) error {
	if err := s.needs(contract.FeatureMix); err != nil {
		return err
	}
	x, classes := s.mixedExchange(false)
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

// pause is how long every class pauses.
const pause = 20 * time.Millisecond

func pausingClasses(s *subject) error {
	if err := s.needs(contract.FeatureThink); err != nil {
		return err
	}
	x, classes := s.mixedExchange(true)
	e, err := s.connectOver(contract.Setup{Exchange: x, Load: contract.Load{Connections: connections, ThinkNs: int64(pause), Classes: classes}})
	if err != nil {
		return err
	}
	a, err := e.measure(s, window)
	if err != nil {
		return err
	}
	most := float64(a.result.ToNs-a.result.FromNs) / float64(pause) * connections
	if n := float64(a.result.Counts.Exchanges); n < 1 || n > most+2*connections {
		return fmt.Errorf("result says %.0f exchanges over %d connections whose classes all pause for %v, expected at most %.0f", n, connections, pause, most+connections)
	}
	return e.finish()
}

// recording writes n requests, so far apart, in turn of the classes with their largest sizes,
// and returns the file.
func recording(n int, apart time.Duration, classes []contract.Class) (file string, err error) {
	f, err := os.CreateTemp("", "netdyno-check-*")
	if err != nil {
		return "", err
	}
	spool, err := os.CreateTemp("", "netdyno-check-*")
	if err != nil {
		return "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	defer func() { _ = os.Remove(spool.Name()) }() // of no more use
	w := traffic.NewWriter(spool)
	for i := range n {
		c := classes[i%len(classes)]
		err = errors.Join(err, w.Add(traffic.Request{AtNs: int64(i) * int64(apart), Class: i % len(classes), Up: c.UpBytes, Down: c.DownBytes, Path: traffic.NoPath}))
	}
	if err = errors.Join(err, w.Close()); err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = traffic.Assemble(f, "", nil, spool)
	}
	if err = errors.Join(err, spool.Close(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return filepath.Abs(f.Name())
}

// recordedRate is the requests per second of the recordings, which last half a second.
const recordedRate = plainRate

// replaying is a load of a recording of some classes.
func replaying(classes []contract.Class, times bool) (contract.Load, error) {
	file, err := recording(recordedRate/2, time.Second/recordedRate, classes)
	return contract.Load{
		Connections: connections, Rate: recordedRate, Arrival: contract.Recorded,
		Trace: &contract.Trace{File: file, Begins: int64(len("...\n")), Speed: 1, Times: times},
	}, err
}

func replayed(s *subject) error {
	if err := s.needs(contract.FeatureTrace); err != nil {
		return err
	}
	x, classes := s.mixedExchange(false)
	load, err := replaying(classes, false)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(load.Trace.File) }() // a file of the check's own
	for i := range classes {
		classes[i].End, classes[i].UpSizes, classes[i].DownSizes = 0, nil, nil
	}
	load.Classes, load.Trace.Even = classes, s.transport.Wire == "echo" || s.transport.Wire == "quic"
	e, err := s.connectOver(contract.Setup{Exchange: x, Load: load})
	if err != nil {
		return err
	}
	a, err := e.measure(s, time.Second)
	if err != nil {
		return err
	}
	if err := replayAgrees(a.result, classes); err != nil {
		return err
	}
	return e.finish()
}

// replayAgrees checks what a client counted of a recording that has its classes in turn.
func replayAgrees(r *contract.Result, classes []contract.Class) error {
	seconds, n := float64(r.ToNs-r.FromNs)/1e9, r.Counts.Exchanges
	if rate := float64(n) / seconds; rate < 0.7*recordedRate || rate > 1.3*recordedRate {
		return fmt.Errorf("%.0f exchanges per second were completed over %.2f s, expected %d: as many as were recorded, over and over", rate, seconds, recordedRate)
	}
	if len(r.Classes) != len(classes) {
		return fmt.Errorf("result has %d classes and setup.load %d, expected the same in the same order", len(r.Classes), len(classes))
	}
	for i, g := range r.Classes {
		c, share := classes[i], n/int64(len(classes))
		if g.Exchanges < share-2*connections || g.Exchanges > share+2*connections {
			return fmt.Errorf("class %s has %d of %d exchanges, expected %d: the classes were recorded in turn", c.Name, g.Exchanges, n, share)
		}
		if g.SentBytes != g.Exchanges*c.UpBytes || g.ReceivedBytes != g.Exchanges*c.DownBytes {
			return fmt.Errorf("class %s has %d exchanges of %d bytes up and %d down, and says %d sent and %d received", c.Name, g.Exchanges, c.UpBytes, c.DownBytes, g.SentBytes, g.ReceivedBytes)
		}
	}
	return nil
}

func replayedTimes(s *subject) error {
	if err := s.needs(contract.FeatureTimes); err != nil {
		return err
	}
	load, err := replaying([]contract.Class{{}}, true)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(load.Trace.File) }()
	return openLoop(load, time.Second, 0.3)(s)
}

// rules are all that concern a transport.
func rules() []rule { return slices.Concat(transportRules, streamRules, drawRules, mixRules) }
