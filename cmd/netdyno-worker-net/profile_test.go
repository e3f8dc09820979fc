package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// The CPU profile of a window is asked for, and holds what ran in it.
func TestAWindowIsProfiledOnRequest(t *testing.T) {
	profiled := func(wanted bool, window time.Duration) *contract.Result {
		c := workertest.Start(t, transports...)
		c.Setup(contract.Setup{
			Transport: "null", Role: contract.Pair, Threads: 1, Profile: wanted,
			Load: contract.Load{Connections: 2}, Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1},
		})
		c.Start()
		c.Mark(1, true)
		time.Sleep(window)
		c.Mark(2, false)
		r := c.Stop()
		return &r
	}
	if r := profiled(false, time.Millisecond); len(r.Profile) > 0 || len(r.Profiles) > 0 {
		t.Errorf("%d bytes of a profile and %d profiles that nobody asked for", len(r.Profile), len(r.Profiles))
	}
	for window := 300 * time.Millisecond; ; window *= 2 { // on a busy machine little runs in one
		r := profiled(true, window)
		p, err := profile.ParseData(r.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Sample) == 0 && window < 10*time.Second {
			continue
		}
		if len(p.Sample) == 0 || p.SampleType[len(p.SampleType)-1].Type != "cpu" {
			t.Errorf("%d samples of %v, want CPU samples of a busy loop", len(p.Sample), p.SampleType)
		}
		allocated, err := profile.ParseData(r.Profiles[contract.ProfileAllocations])
		if err != nil {
			t.Errorf("profile of allocations: %v", err)
		} else if !slices.ContainsFunc(allocated.SampleType, func(v *profile.ValueType) bool { return v.Type == "alloc_space" }) {
			t.Errorf("profile of allocations has %v, want alloc_space", allocated.SampleType)
		}
		return
	}
}
