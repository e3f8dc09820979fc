package finding_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/profile"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// stacks of an end that encodes half of its time.
var stacks = []synthetic.Stack{
	{Functions: []string{"encoding/json.Marshal", "netdyno/internal/work/codec.Encode", "net/http.(*conn).serve"}, CPU: 300 * time.Millisecond},
	{Functions: []string{"runtime.mallocgc", "netdyno/internal/work/codec.Encode", "net/http.(*conn).serve"}, CPU: 200 * time.Millisecond},
	{Functions: []string{"syscall.Syscall", "net.(*conn).Write", "net/http.(*conn).serve"}, CPU: 400 * time.Millisecond},
	{Functions: []string{"main.walk", "main.walk", "main.walk"}, CPU: 100 * time.Millisecond}, // recursion
}

func probed() synthetic.Options {
	return synthetic.Options{Blocks: 6, SD: 0.01, Seed: 2, Bare: true, Clients: 2, Probes: stacks}
}

func TestProfilesSayWhereTheTimeWent(t *testing.T) {
	f := findIn(t, probed())
	if len(f.Profiles) != 2*3*2 || f.Tally.Probes != 6 {
		t.Fatalf("%d profiles of %d probes, want one for each cell, arm and end", len(f.Profiles), f.Tally.Probes)
	}
	for i, p := range f.Profiles {
		cell, arm := []string{"connections=50", "connections=1000"}[i/6], []string{"go-net", "go-epoll", "asio"}[i/2%3]
		end, seconds := []string{"server", "client"}[i%2], float64(1+i%2) // of two clients twice as much
		if p.Cell != cell || p.Arm != arm || p.End != end || p.Probes != 1 || math.Abs(p.Seconds-seconds) > 1e-9 {
			t.Errorf("profile %d: %+v, want %s of %s at %s", i, p, end, arm, cell)
		}
		sum := 0.0
		for k, share := range p.Shares {
			want := map[string]float64{"encode": 0.5, "system calls": 0.4, "netdyno": 0.1}[share.Activity]
			if math.Abs(share.Share-want) > 1e-9 || share.Activity != profile.Activities()[k].Name {
				t.Errorf("%s %v, want %v", share.Activity, share.Share, want)
			}
			sum += share.Share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("shares sum to %v", sum)
		}
		if top := p.Flat[0]; top != (profile.Function{Name: "syscall.Syscall", Flat: 0.4, Cumulative: 0.4}) {
			t.Errorf("flat %+v", p.Flat)
		}
		if top := p.Cumulative[0]; top.Name != "net/http.(*conn).serve" || top.Flat != 0 || math.Abs(top.Cumulative-0.9) > 1e-9 {
			t.Errorf("cumulative %+v", p.Cumulative)
		}
		for _, function := range p.Cumulative {
			if function.Name == "main.walk" && math.Abs(function.Cumulative-0.1) > 1e-9 {
				t.Errorf("recursion counts %v times", function.Cumulative/0.1)
			}
		}
	}
}

// A probe moves no figure but its profile.
func TestProbesMoveNothingElse(t *testing.T) {
	o := probed()
	with := findIn(t, o)
	o.Probes = nil
	without := findIn(t, o)
	if len(without.Profiles) != 0 || without.Tally.Probes != 0 {
		t.Fatalf("profiles without probes: %+v", without.Profiles)
	}
	with.Profiles, with.Differences, with.Flames, with.ProfileFiles, with.Tally.Probes = nil, nil, nil, nil, 0
	if !reflect.DeepEqual(with, without) {
		t.Error("probes changed other findings")
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGarbledProfilesAreLeftOut(t *testing.T) {
	good := synthetic.Profile(stacks)
	torn := good[:len(good)/2]
	for name, c := range map[string]struct {
		change func(probe *record.Record)
		text   string
	}{
		"not gzip":          {func(r *record.Record) { r.Workers[0].Result.Profile = []byte("hello") }, "server: decompress: "},
		"torn":              {func(r *record.Record) { r.Workers[0].Result.Profile = torn }, "server: decompress: "},
		"bomb":              {func(r *record.Record) { r.Workers[0].Result.Profile = gzipped(t, make([]byte, 17<<20)) }, "server: decompress: more than 16777216 bytes"},
		"not pprof":         {func(r *record.Record) { r.Workers[0].Result.Profile = gzipped(t, []byte("hello, world")) }, "server: parse as pprof: "},
		"no CPU time":       {func(r *record.Record) { r.Workers[0].Result.Profile = gzipped(t, []byte{0x32, 0}) }, "server: find CPU time: "},
		"failed trial":      {func(r *record.Record) { r.Outcome = record.Failed }, "failed: no reason was recorded"},
		"unbelievable":      {func(r *record.Record) { r.Workers[1].Result.Counts.SentBytes /= 2 }, "invalid: client-1 sent"},
		"no probe it seems": {func(r *record.Record) { r.Trial.Probe = false }, "its record is of another place"},
	} {
		h, trials, records := synthetic.Run(probed())
		c.change(&records[len(records)-1])
		f := find(t, h, trials, records)
		var texts []string
		for _, w := range f.Warnings {
			if w.About == "profile" {
				texts = append(texts, w.Text)
			}
		}
		lost := 12 - len(f.Profiles)
		if len(texts) != 1 || !strings.Contains(texts[0], c.text) || !strings.Contains(texts[0], trials[len(trials)-1].ID) || lost < 1 || lost > 2 {
			t.Errorf("%s: %d profiles lost, warnings %q, want %q", name, lost, texts, c.text)
		}
	}
}

// A profiler holds up the marks, so the two ends' rates may differ.
func TestCountersOfProbesNeedNotAgree(t *testing.T) {
	h, trials, records := synthetic.Run(probed())
	records[len(records)-1].Workers[0].Close.Reading.Counts.ReceivedBytes *= 2
	if f := find(t, h, trials, records); len(f.Profiles) != 12 {
		t.Errorf("%d profiles, want 12", len(f.Profiles))
	}
}

// An end without a profile has none, and an idle one no shares.
func TestNoSamplesNoProfile(t *testing.T) {
	h, trials, records := synthetic.Run(probed())
	last := &records[len(records)-1]
	last.Workers[0].Result.Profile = nil
	last.Workers[1].Result.Profile = synthetic.Profile(nil)
	last.Workers[2].Result.Profile = last.Workers[1].Result.Profile
	f := find(t, h, trials, records)
	if len(f.Profiles) != 10 {
		t.Errorf("%d profiles, want 10", len(f.Profiles))
	}
}

// Whatever a profile holds, its findings can be written and its shares are
// shares.
func FuzzProfile(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("hello"))
	for _, s := range [][]synthetic.Stack{stacks, stacks[:1], nil, {{CPU: time.Second}}} {
		packed, err := gzip.NewReader(bytes.NewReader(synthetic.Profile(s)))
		if err != nil {
			f.Fatal(err)
		}
		var raw bytes.Buffer
		if _, err := raw.ReadFrom(packed); err != nil {
			f.Fatal(err)
		}
		f.Add(raw.Bytes())
	}
	h, trials, records := synthetic.Run(synthetic.Options{
		Blocks: 1, Bare: true, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "go-net"}}, Probes: stacks,
	})
	probe := &records[len(records)-1]
	f.Fuzz(func(t *testing.T, raw []byte) {
		probe.Workers[0].Result.Profile = gzipped(t, raw)
		probe.Workers[1].Result.Profile = nil
		found := find(t, h, trials, records)
		if _, err := json.Marshal(found); err != nil {
			t.Fatalf("findings cannot be written: %v", err)
		}
		for _, p := range found.Profiles {
			for _, s := range p.Shares {
				if s.Share < 0 || s.Share > 1+1e-9 {
					t.Fatalf("share %+v", s)
				}
			}
			if len(p.Flat) > 20 || len(p.Cumulative) > 20 {
				t.Fatalf("%d and %d functions", len(p.Flat), len(p.Cumulative))
			}
		}
	})
}
