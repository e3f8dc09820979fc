package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// A stop about a link runs where there is one, and says so where none can be made.
func TestTheTourAsksALinkWhereThereIsOne(t *testing.T) {
	able, unable := func(string) error { return nil }, func(string) error { return errors.New("it needs root") }
	for _, c := range []struct {
		study string
		build func(string) error
		on    string
	}{{"line-rate-quick", able, tourLink}, {"mixed-quick", able, tourLink}, {"line-rate-quick", unable, rig.LoopbackName}, {"blocks-quick", unable, rig.LoopbackName}} {
		on, why := tourRig(c.study, c.build)
		if on != c.on || strings.Contains(why, "it needs root") != (c.study == "line-rate-quick" && on == rig.LoopbackName) {
			t.Errorf("%s runs on %s: %q, want %s", c.study, on, why, c.on)
		}
	}
}

// A study of languages is no stop where only one of them has a worker.
func TestTheTourLeavesOutWhatHasOneArm(t *testing.T) {
	all := func(record.Trial) bool { return true }
	native := func(t record.Trial) bool {
		server, path := t.Levels["server"], t.Levels[record.PathFactor]
		return (strings.HasPrefix(server, "go-") || server == "asio") && (path == "" || path == record.Direct)
	}
	names := func(stops []tourStop) []string { return each.Of(stops, func(s tourStop) string { return s.study }) }
	stops, err := tourStops(wholeTour, all)
	if err != nil || !slices.Equal(names(stops), names(wholeTour)) {
		t.Errorf("with every worker: %v, %v", stops, err)
	}
	stops, err = tourStops(wholeTour, native)
	if err != nil || slices.Contains(names(stops), "languages-quick") || slices.Contains(names(stops), "hops-quick") || !slices.Contains(names(stops), "event-loops-quick") {
		t.Errorf("without the kits' workers: %v, %v", stops, err)
	}
	goOnly := func(t record.Trial) bool { return strings.HasPrefix(t.Levels["server"], "go-") }
	stops, err = tourStops(quickTour, goOnly)
	if err != nil || len(stops) != 5 {
		t.Errorf("the quick tour with the workers in Go: %v, %v", names(stops), err)
	}
	for _, stop := range stops {
		if stop.takes > 25*time.Second {
			t.Errorf("%s takes %v by its plan, want 25 s at most", stop.study, stop.takes)
		}
	}
}
