package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// Timeline shows one trial over time: small panels below each other on one axis of
// seconds since the load's start.
type Timeline struct {
	Trial  string          `json:"trial"`
	Window [2]float64      `json:"window"`
	End    float64         `json:"end"`    // of the axis
	Stalls [][2]float64    `json:"stalls"` // when the clients stood still
	Panels []TimelinePanel `json:"panels"`
}

// TimelinePanel has its own upright axis.
type TimelinePanel struct {
	Title string         `json:"title"`
	Scale metric.Scale   `json:"scale"`
	Log   bool           `json:"log,omitempty"`
	Lines []TimelineLine `json:"lines"`
}

// TimelineLine is one figure; a run ends where a reading is missing.
type TimelineLine struct {
	Name   string         `json:"name"`
	Colour int            `json:"colour"`
	Runs   [][][2]float64 `json:"runs"` // seconds and raw value
}

// Timelines are those of one cell, an arm each.
type Timelines struct {
	Summary string   `json:"summary"`
	Open    bool     `json:"open"` // of a run that has nothing else to show
	Figures []Figure `json:"figures"`
}

// What timelines may take of the page.
const (
	maxTimelines      = 48
	maxTimelinePoints = 60_000
	mostTrackPoints   = 240
	leastTrackPoints  = 40
)

// timelines draws those of one cell; nil when there is none.
func (l *layout) timelines(i int, cell string) *Timelines {
	tracks := 0
	for _, t := range l.Timelines {
		tracks += len(t.Tracks)
	}
	points := max(leastTrackPoints, min(mostTrackPoints, maxTimelinePoints/max(1, min(tracks, 32*maxTimelines))))
	s := &Timelines{Open: len(l.Timelines) == 1 && l.Tally.Planned <= 2}
	for n, t := range l.Timelines {
		if t.Cell != cell || n >= maxTimelines {
			continue
		}
		s.Figures = append(s.Figures, Figure{
			Figure: part.Figure{Heading: part.Heading{
				ID: fmt.Sprintf("cell-%d-time-%d", i+1, len(s.Figures)+1), Wide: true,
				Title: l.called(t.Arm) + ", trial " + t.Trial + " over time", Caption: timelineCaption(t),
			}},
			Timeline: timelineOf(t, points),
		})
	}
	if len(s.Figures) == 0 {
		return nil
	}
	s.Summary = "Over time: " + quantity.Plural(len(s.Figures), "trial")
	if len(s.Figures) > 1 {
		s.Summary = "Over time: one trial of each arm"
	}
	return s
}

// timelineOf lays one out with so many points of each line: a panel for the rate, and one
// for the times.
func timelineOf(t view.Timeline, points int) *Timeline {
	figure := &Timeline{Trial: t.Trial, Window: [2]float64{part.Brief(t.Window[0]), part.Brief(t.Window[1])}, End: t.Window[1], Stalls: [][2]float64{}}
	for _, s := range t.Stalls {
		figure.Stalls = append(figure.Stalls, [2]float64{part.Brief(s[0]), part.Brief(s[1])})
	}
	rate, times := TimelinePanel{Title: "exchanges"}, TimelinePanel{Title: t.Times + " times"}
	for _, track := range t.Tracks {
		panel := &times
		if track.Name == "rate" {
			panel = &rate
		}
		runs := peaks(track.Runs, points)
		if len(runs) == 0 {
			continue
		}
		panel.Lines = append(panel.Lines, TimelineLine{Name: track.Name, Colour: len(panel.Lines), Runs: runs})
		panel.Scale.Unit = track.Unit
		last := runs[len(runs)-1]
		figure.End = max(figure.End, last[len(last)-1][0])
	}
	for _, panel := range []TimelinePanel{rate, times} {
		if len(panel.Lines) > 0 {
			panel.scaled()
			figure.Panels = append(figure.Panels, panel)
		}
	}
	figure.End = part.Brief(figure.End)
	return figure
}

// scaled chooses the unit of a panel, and a logarithmic axis for times that lie far apart.
func (p *TimelinePanel) scaled() {
	least, largest := 0.0, 0.0
	for _, line := range p.Lines {
		for _, run := range line.Runs {
			for _, point := range run {
				largest = max(largest, point[1])
				if point[1] > 0 && (least == 0 || point[1] < least) {
					least = point[1]
				}
			}
		}
	}
	shown := largest
	if p.Log = len(p.Lines) > 1 && least > 0 && largest > 8*least; p.Log {
		shown = least
	}
	p.Scale = metric.Metric{Unit: p.Scale.Unit}.Scale(shown)
	p.Title += " (" + p.Scale.Unit + ")"
}

// peaks keeps at most so many points of a track, of those that stand together the
// highest: a short spell must not vanish. What no axis can take is left out.
func peaks(runs [][][2]float64, most int) [][][2]float64 {
	total := 0
	for _, run := range runs {
		total += len(run)
	}
	together := max(1, (total+most-1)/max(1, most))
	var kept [][][2]float64
	for _, run := range runs {
		var line [][2]float64
		for chunk := range slices.Chunk(run, together) {
			top, found := [2]float64{}, false
			for _, point := range chunk {
				if part.Finite(point[0]) && part.Finite(point[1]) && point[0] >= 0 && point[1] >= 0 && (!found || point[1] > top[1]) {
					top, found = point, true
				}
			}
			if found {
				line = append(line, [2]float64{part.Brief(top[0]), part.Brief(top[1])})
			}
		}
		if len(line) > 0 {
			kept = append(kept, line)
		}
	}
	return kept
}

// timelineCaption says which trial it is, what is shaded and what is left out.
func timelineCaption(t view.Timeline) string {
	var parts []string
	switch {
	case t.Probe:
		parts = append(parts, "A probe: a trial with the profiler on, which no comparison uses.")
	case t.Of > 1:
		parts = append(parts, fmt.Sprintf("Of %d trials the one of the median rate.", t.Of))
	}
	parts = append(parts, "The window is shaded, the warm-up is before it; a line breaks where a reading is missing.")
	if t.Times != "" {
		parts = append(parts, "Each step has its own percentiles, a p99 where it has 1,000 exchanges.")
	}
	if t.Others > 0 {
		parts = append(parts, fmt.Sprintf("Times are of the first client, the rate is of all %d.", t.Others+1))
	}
	if len(t.Stalls) > 0 {
		parts = append(parts, fmt.Sprintf("Marked red: %s.", quantity.Plural(len(t.Stalls), "standstill")))
	}
	if len(t.Flags) > 0 {
		parts = append(parts, "Flags of the trial: "+strings.Join(t.Flags, ", ")+".")
	}
	return strings.Join(parts, " ")
}
