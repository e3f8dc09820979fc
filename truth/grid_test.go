package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// pretended is a recording of a grid whose rates are known.
func pretended(sd float64) recording {
	g := newGrid(rand.New(rand.NewPCG(5, 6)), sd, false)
	r := recording{RecordedAt: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), Metric: "exchanges_per_s", Planned: gridExhaustive}
	for block := 1; block <= exhaustiveBlocks; block++ {
		for i, p := range pairs {
			r.Trials = append(r.Trials, recordedTrial{Block: block, Order: i, Arm: p.arm, Value: g.figure(p.arm, block)})
		}
	}
	return r
}

// Races of recorded blocks find the recorded optimum where trials scatter little, and a
// count of races that chose by chance would be told from that.
func TestRacesOfARecording(t *testing.T) {
	const runs = 100
	for sd, least := range map[float64]int{0.02: 95, 1: 0} {
		g, err := pretended(sd).grid()
		if err != nil {
			t.Fatal(err)
		}
		if got := g.sd; got < 0.8*sd || got > 1.2*sd {
			t.Errorf("trials that scatter by ±%g are said to by ±%g", sd, got)
		}
		won, _, most := g.races(runs)
		if won < least || least == 0 && won > 70 || most > gridTrials {
			t.Errorf("±%g: %d of %d races end near the best, in up to %d trials", sd, won, runs, most)
		}
	}
}

// A recording comes back as it was written, and one with too few trials is refused.
func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	r := pretended(0.02)
	r.Machine, r.Levels = map[string]string{"cpu.count": "2"}, map[string]string{"window": "2s"}
	text, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	var again recording
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("%v: read %+v, wrote %+v", err, again, r)
	}
	if lines := bytes.Count(text, []byte("\n")); lines < gridExhaustive {
		t.Errorf("%d lines, expected one for each of %d trials", lines, gridExhaustive)
	}
	best := func() string {
		g, err := r.grid()
		if err != nil {
			t.Fatal(err)
		}
		return g.best
	}
	all := best()
	r.Trials = slices.Delete(r.Trials, 3, 23) // they come in blocks that differ by more than pairs do
	if some := best(); some != all {
		t.Errorf("without 20 trials %s is the best pair, with them %s", some, all)
	}
	r.Trials = r.Trials[10:]
	if _, err := r.grid(); err == nil {
		t.Error("226 of 256 trials make a grid")
	}
	r.Trials[0].Arm = "w1-r1"
	if _, err := r.grid(); err == nil {
		t.Error("an arm that is none of the pairs makes a grid")
	}
}

// The recording that is raced has every pair, and says where it is from.
func TestTheRecordingIsWhole(t *testing.T) {
	r, err := readRecording("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.grid(); err != nil {
		t.Error(err)
	}
	if r.RecordedAt.IsZero() || r.Machine["cpu.model"] == "" || r.Machine["kernel.release"] == "" || len(r.Versions) == 0 || r.Levels["window"] == "" {
		t.Errorf("recorded %s on %v of %v at %v: expected all of these", r.RecordedAt, r.Machine, r.Versions, r.Levels)
	}
}
