package view

import (
	"cmp"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Timeline is one trial over time, on one axis of seconds since the load's start: the rate
// of all clients, and how long the exchanges of the first client took.
type Timeline struct {
	Cell   string       `json:"cell,omitempty"`
	Arm    string       `json:"arm"`
	Trial  string       `json:"trial"`
	Probe  bool         `json:"probe,omitempty"`
	Of     int          `json:"of"`               // trials of the arm and cell that have a timeline
	Window [2]float64   `json:"window"`           // from its opening to its closing
	Stalls [][2]float64 `json:"stalls,omitempty"` // when the clients stood still
	Flags  []string     `json:"flags,omitempty"`  // of the trial
	Others int          `json:"others"`           // further clients, of which only the rate tells
	Times  string       `json:"times,omitempty"`  // whose percentiles are shown: "response" in an open loop, else "service"
	Tracks []Track      `json:"tracks"`
}

// Track is one figure over time. A run ends where a reading is missing.
type Track struct {
	Name string         `json:"name"`
	Unit string         `json:"unit"`
	Runs [][][2]float64 `json:"runs"` // seconds and value, rising

	goesOn bool // the next value belongs to the last run
}

// timelineGap is how many times their usual distance readings may lie apart and still be
// joined: nobody knows what was between those that lie further apart.
const timelineGap = 2.9

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

// representative chooses a trial and tells among how many.
func representative(s *cells.Dataset, at cells.Key, judged []*trial.Judged) (chosen *trial.Judged, of int) {
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
	clients := 0
	for i := range v.Record.Workers {
		if w := &v.Record.Workers[i]; w.Role != contract.Server {
			if clients++; clients == 1 {
				t.addTimes(w, open)
			}
		}
	}
	t.Others = max(0, clients-1)
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

// addTimes adds what a client told of its exchanges between ticks. Their instants are
// counted from its own opening mark.
func (t *Timeline) addTimes(w *record.Worker, open float64) {
	if w.Open == nil {
		return
	}
	p50, p99, most := Track{Name: "p50", Unit: "µs"}, Track{Name: "p99", Unit: "µs"}, Track{Name: "most", Unit: "µs"}
	before, step := 0.0, usualStep(w.Ticks)
	for i, tick := range w.Ticks {
		at := open + float64(tick.AtNs-w.Open.Reading.AtNs)/1e9
		if i == 0 || at-before > timelineGap*step || tick.Times == nil {
			p50.cut()
			p99.cut()
			most.cut()
		}
		if times := tick.Times; times != nil && i > 0 {
			middle := (at + before) / 2
			p50.addTime(middle, times.P50Ns)
			p99.addTime(middle, times.P99Ns)
			most.addTime(middle, times.MaxNs)
		}
		before = at
	}
	if t.addTracks(p50, p99, most); len(most.Runs) > 0 {
		t.Times = record.Service
		if w.Setup != nil && w.Setup.Load.Rate > 0 {
			t.Times = record.Response
		}
	}
}

// usualStep is the median distance of ticks in seconds.
func usualStep(ticks []contract.Tick) float64 {
	var steps []int64
	for i := 1; i < len(ticks); i++ {
		steps = append(steps, ticks[i].AtNs-ticks[i-1].AtNs)
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return float64(steps[len(steps)/2]) / 1e9
}

// addTracks keeps a track that has anything to show.
func (t *Timeline) addTracks(tracks ...Track) {
	for _, track := range tracks {
		if len(track.Runs) > 0 {
			t.Tracks = append(t.Tracks, track)
		}
	}
}

// addTime adds a time, of which there is none where too few exchanges were counted.
func (t *Track) addTime(at float64, ns int64) {
	if ns == 0 {
		t.cut()
		return
	}
	t.addPoint(at, float64(ns)/1e3)
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
