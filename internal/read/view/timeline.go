package view

import (
	"cmp"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/steady"
)

// Timeline is one trial over time, on one axis of seconds since the load's start.
type Timeline struct {
	Cell   string       `json:"cell,omitempty"`
	Arm    string       `json:"arm"`
	Trial  string       `json:"trial"`
	Probe  bool         `json:"probe,omitempty"`
	Of     int          `json:"of"`               // trials of the arm and cell that have a timeline
	Window [2]float64   `json:"window"`           // from its opening to its closing
	Stalls [][2]float64 `json:"stalls,omitempty"` // when the clients stood still
	Flags  []string     `json:"flags,omitempty"`  // of the trial
	Others int          `json:"others"`           // further workers, of which only the rate tells
	Seen   int          `json:"sockets"`          // connections that the tracks of TCP are of, at the most
	Times  string       `json:"times,omitempty"`  // whose percentiles are shown: "response" in an open loop, else "service"
	Tracks []Track      `json:"tracks"`
}

// Track is one figure over time. A run ends where a reading is missing.
type Track struct {
	Of   contract.Role  `json:"of,omitempty"` // empty: the clients together
	Name string         `json:"name"`
	Unit string         `json:"unit"`
	Runs [][][2]float64 `json:"runs"` // seconds and value, rising

	goesOn bool // the next value belongs to the last run
}

// Timelines returns one trial's timeline for each arm of each cell whose trials have
// any: the valid trial of the median rate; where none is valid, the first that has one;
// else a probe's.
func Timelines(s *cells.Dataset) []Timeline {
	var all []Timeline
	for at, judged := range s.Places() {
		if v, of := representative(s, at, judged); v != nil {
			t := timelineOf(v)
			t.Of = of
			all = append(all, t)
		}
	}
	return all
}

// representative chooses a trial and tells among how many: before all others the first one
// that never became steady.
func representative(s *cells.Dataset, at cells.Key, judged []*trial.Judged) (chosen *trial.Judged, of int) {
	for _, v := range judged {
		if slices.Contains(v.Trial.Flags, trial.Warming) && len(v.WarmUp) > 0 {
			return v, 1
		}
	}
	var valid, others []*trial.Judged
	for _, v := range judged {
		switch {
		case !hasTimeline(v):
		case v.Trial.Status == trial.Valid:
			valid = append(valid, v)
		default:
			others = append(others, v)
		}
	}
	if len(valid) > 0 {
		slices.SortStableFunc(valid, func(a, b *trial.Judged) int {
			return cmp.Compare(a.Trial.Values.At(metric.ExchangesPerS), b.Trial.Values.At(metric.ExchangesPerS))
		})
		return valid[(len(valid)-1)/2], len(valid)
	}
	if len(others) > 0 {
		return others[0], len(others)
	}
	for _, v := range s.Probes {
		if cells.KeyOf(v.Plan.Cell, v.Plan.Arm) == at && hasTimeline(v) && trial.UnfitProbe(v) == "" {
			return v, 1
		}
	}
	return nil, 0
}

// hasTimeline tells whether a trial's ticks say more than counts.
func hasTimeline(v *trial.Judged) bool {
	if v.Record == nil || v.Record.Timeline.OpenNs <= v.Record.Timeline.StartNs {
		return false
	}
	return slices.ContainsFunc(v.Record.Workers, func(w record.Worker) bool { return w.TicksInDetail() })
}

func timelineOf(v *trial.Judged) Timeline {
	line := v.Record.Timeline
	open := float64(line.OpenNs-line.StartNs) / 1e9
	t := Timeline{
		Cell: v.Plan.Cell, Arm: v.Plan.Arm, Trial: v.Plan.ID, Probe: v.Plan.Probe, Flags: v.Trial.Flags,
		Window: [2]float64{open, open + windowSeconds(v.Record)},
	}
	for _, s := range v.Trial.Stalls {
		t.Stalls = append(t.Stalls, [2]float64{open + s.FromS, open + s.ToS})
	}
	t.addTracks(rateTrack(v.Trial.Series))
	t.addTracks(costTracks(v.WarmUp)...)
	for _, role := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
		first := slices.IndexFunc(v.Record.Workers, func(w record.Worker) bool { return w.Role == role })
		if first < 0 {
			continue
		}
		for _, w := range v.Record.Workers[first+1:] {
			if w.Role == role {
				t.Others++
			}
		}
		t.addWorker(&v.Record.Workers[first], open)
	}
	return t
}

// windowSeconds is the longest window of a client by its own clock, else the bench's.
func windowSeconds(r *record.Record) float64 {
	longest := 0.0
	for i := range r.Workers {
		if w := &r.Workers[i]; w.Role != contract.Server && w.Result != nil {
			longest = max(longest, float64(w.Result.ToNs-w.Result.FromNs)/1e9)
		}
	}
	if longest == 0 {
		longest = max(0, float64(r.Timeline.CloseNs-r.Timeline.OpenNs)/1e9)
	}
	return longest
}

func rateTrack(series []trial.Slice) Track {
	t := Track{Name: "rate", Unit: "1/s"}
	half := 0.0 // of a step: the value is shown in its middle
	for i, s := range series {
		if i+1 < len(series) {
			half = (series[i+1].AtS - s.AtS) / 2
		}
		t.addPoint(s.AtS+half, s.ExchangesPerS)
	}
	return t
}

// costTracks are what an exchange costs each end while the load warms up.
func costTracks(steps []steady.Step) []Track {
	var tracks []Track
	for _, role := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
		t := Track{Of: role, Name: WarmingCost, Unit: "µs"}
		for _, s := range steps {
			us, known := s.CPUUs[role]
			if !known {
				t.cut()
				continue
			}
			t.addPoint((s.FromS+s.ToS)/2, us)
		}
		tracks = append(tracks, t)
	}
	return tracks
}

// WarmingCost is the track of what an exchange costs while the load warms up.
const WarmingCost = "CPU per exchange"

// addTracks keeps a track that has anything to show.
func (t *Timeline) addTracks(tracks ...Track) {
	for _, track := range tracks {
		if len(track.Runs) > 0 {
			t.Tracks = append(t.Tracks, track)
		}
	}
}

// addPoint adds a value; one that is no number ends the run.
func (t *Track) addPoint(at, value float64) {
	if value-value != 0 || at-at != 0 {
		t.cut()
		return
	}
	if !t.goesOn {
		t.Runs, t.goesOn = append(t.Runs, nil), true
	}
	last := &t.Runs[len(t.Runs)-1]
	*last = append(*last, [2]float64{at, value})
}

// cut ends the run: what follows is not joined to what was before.
func (t *Track) cut() { t.goesOn = false }
