package source

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/run/study"
)

func TestDecodeTakesEveryPlannedTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := ParseArgs(anyArguments(t), noFiles)
		if err != nil {
			t.Fatal(err)
		}
		trials, _, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trials {
			if w, err := study.Decode(tr.Levels); err != nil || w.Server != tr.Levels["server"] || w.Load.Connections == 0 || w.Window == 0 {
				t.Fatalf("%v gave %+v, %v", tr.Levels, w, err)
			}
		}
	})
}

func TestAnAmountTakesThePlaceOfTheWindow(t *testing.T) {
	trials, _, err := mustArgs(t, "transport=a", "amount=100,0").Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		w, err := study.Decode(tr.Levels)
		if err != nil || (w.Load.Amount > 0) == (w.Window > 0) {
			t.Errorf("%v gave amount %d and window %v, %v", tr.Levels, w.Load.Amount, w.Window, err)
		}
	}
}

// What is asked of a study that does not say: bytes of streams, the rate of a
// closed loop, cost and lateness at an equal rate.
func TestPrimaryFollowsTheWork(t *testing.T) {
	for args, want := range map[string]string{
		"transport=go-net":                      "exchanges_per_s",
		"transport=go-net rate=100":             "server.cpu_us_per_exchange",
		"transport=go-net stream=up":            "goodput_bytes_per_s",
		"transport=go-net stream=down rate=100": "goodput_bytes_per_s",
		"transport=go-net stream=no,up":         "exchanges_per_s",
	} {
		if got := mustArgs(t, strings.Fields(args)...).Compare.Primary[0]; got != want {
			t.Errorf("%s: the first primary metric is %s, want %s", args, got, want)
		}
	}
}
