package main

import (
	"testing"
)

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
