package source

import (
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const shared = `
study: s
hold: {response: 1KiB, window: 1s, warmup: 100ms}
vary:
  transport: [go-http1, go-http2]
  rate: [30%, 60%, 2000]
  connections: [1, 10]
compare: {baseline: go-http1, primary: [response_p99_us]}
blocks: 6
`

// A rate that is a share is of what the arm does flat out, in trials before the first block:
// three for each arm and all cells that differ only in their rate.
func TestSharesAreOfTrialsFlatOut(t *testing.T) {
	s, err := ParseFile("s.yaml", []byte(shared))
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := own(s)
	if err != nil {
		t.Fatal(err)
	}
	keys, shares := map[string]int{}, 0
	for i, one := range trials {
		w, err := study.Decode(one.Levels)
		if err != nil {
			t.Fatal(err)
		}
		if one.FlatOut != (i < 12) || one.FlatOut != (one.Block == 0) {
			t.Fatalf("trial %d is %+v", i, one)
		}
		if !one.FlatOut {
			if one.OfFlatOut() {
				shares++
			}
			if one.OfFlatOut() != (w.RateShare > 0) || one.OfFlatOut() == (w.Load.Rate == 2000) {
				t.Errorf("%s: %+v", one.ID, w)
			}
			continue
		}
		keys[one.FlatOutKey()]++
		if one.ID[:4] != "f00-" || w.Load.Rate != 0 || w.RateShare != 0 || one.Levels["rate"] != "max" {
			t.Errorf("%+v", one)
		}
	}
	if len(keys) != 4 || len(trials) != 12+6*18 || shares != 6*12 {
		t.Errorf("%d trials, %d of shares, flat out %v", len(trials), shares, keys)
	}
	for _, one := range trials[12:] {
		if one.OfFlatOut() && keys[one.FlatOutKey()] != 3 {
			t.Errorf("%s has %d trials flat out", one.ID, keys[one.FlatOutKey()])
		}
	}
	decided := record.Allocated(trials[12:13], []record.Allocation{{Block: 1, Levels: map[string]map[string]string{trials[12].ID: {record.RateOf: "40000"}}}})
	if w, err := study.Decode(decided[0].Levels); err != nil || trials[12].OfFlatOut() && (w.Load.Rate < 12_000 || w.RateShare != 0) {
		t.Errorf("%+v, %v", w, err)
	}
	s, err = ParseFile("s.yaml", []byte(strings.Replace(shared, "hold: {", "hold: {rate.of: 40k, ", 1)))
	if err == nil || !strings.Contains(err.Error(), "rate.of=40000 contradicts rate=2000") {
		t.Errorf("%v, %v", s, err)
	}
	given := strings.NewReplacer("hold: {", "hold: {rate.of: 40k, ", ", 2000", "").Replace(shared)
	if s, err = ParseFile("s.yaml", []byte(given)); err != nil {
		t.Fatal(err)
	}
	if trials, _, err = own(s); err != nil || len(trials) != 6*12 {
		t.Errorf("%d trials of shares of a given rate, %v", len(trials), err)
	}
	if w, err := study.Decode(trials[0].Levels); err != nil || w.Load.Rate != 12_000 && w.Load.Rate != 24_000 {
		t.Errorf("%+v, %v", w.Load, err)
	}
}

func TestSharesAreRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"transport=go-net rate=0%", "offers nothing"},
		{"transport=go-net rate=101%", "more than the whole"},
		{"transport=go-net rate=50% amount=10", "rate=50% contradicts amount=10"},
		{"transport=go-net rate=50% think=1ms", "contradicts think=1ms"},
		{"transport=go-net rate=50% rate.of=30%", "is no rate"},
		{"transport=go-net rate.of=30k", "rate.of=30000 contradicts rate=max"},
		{"transport=go-net rate=50% arrival=steps:1k,2k/10s", "contradicts"},
		{"transport=go-net rate=50% capacity=yes", "contradicts capacity"},
	} {
		a, err := ReadArguments(append(strings.Fields(c.args), "study=s"))
		var s *study.Study
		if err == nil {
			s, err = a.Study(nil)
		}
		if err == nil {
			_, _, err = own(s)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

// References are arms of the study, and not all of them.
func TestReferencesAreArms(t *testing.T) {
	for of, want := range map[string]string{
		"[go-http2]": "", "[go-http1, go-http2]": "there is nothing to use", "[go-htp2]": `did you mean "go-http2"?`, "[go-http2, go-http2]": "listed", "[]": "expected",
	} {
		s, err := ParseFile("s.yaml", []byte(shared+"reference: "+of+"\n"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", of, err, want)
		}
		if err == nil && len(study.Summary(s).Reference) != 1 {
			t.Errorf("%s: %v", of, s.Reference)
		}
	}
	a, err := ReadArguments([]string{"mixed", "arm=http1-10,http2"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := a.Study(nil); err != nil || len(s.Reference) != 0 {
		t.Errorf("without its references it is %v, %v", s, err)
	}
}
