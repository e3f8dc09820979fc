package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
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
	Dashed bool           `json:"dashed,omitempty"`
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

// panelPlan says which tracks share a panel: by name, in the order of their colours.
type panelPlan struct {
	title string
	names []string
	of    []contract.Role // the clients' tracks are dashed where both ends are in it
	log   bool
}

var bothEnds = []contract.Role{contract.Server, contract.Client, contract.Pair}

var panelPlans = []panelPlan{
	{title: "exchanges", names: []string{"rate"}, of: []contract.Role{""}},
	{title: "CPU per exchange, warming up", names: []string{view.WarmingCost}, of: bothEnds},
	{title: "times", names: []string{"p50", "p99", "most"}, of: bothEnds, log: true},
	{title: "CPU", names: []string{"user", "system"}, of: bothEnds},
	{title: "GC pauses", names: []string{"pauses"}, of: bothEnds},
	{title: "CPU collecting garbage", names: []string{"collecting"}, of: bothEnds},
	{title: "GC cycles", names: []string{"cycles"}, of: bothEnds},
	{title: "allocated", names: []string{"allocated"}, of: bothEnds},
	{title: "server memory", names: []string{"heap", "heap from the system", "stacks from the system", "resident"}, of: []contract.Role{contract.Server, contract.Pair}},
	{title: "client memory", names: []string{"heap", "heap from the system", "stacks from the system", "resident"}, of: []contract.Role{contract.Client}},
	{title: "retransmitted segments", names: []string{"retransmits"}, of: bothEnds},
	{title: "congestion window, mean", names: []string{"congestion window"}, of: bothEnds},
	{title: "received, not read", names: []string{"received, not read"}, of: bothEnds},
	{title: "sent, not acknowledged", names: []string{"sent, not acknowledged"}, of: bothEnds},
}

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
		figure, idle := l.timeline(t, points)
		s.Figures = append(s.Figures, Figure{
			Figure: part.Figure{Heading: part.Heading{
				ID: fmt.Sprintf("cell-%d-time-%d", i+1, len(s.Figures)+1), Wide: true,
				Title: l.called(t.Arm) + ", trial " + t.Trial + " over time", Caption: timelineCaption(t, idle),
			}},
			Timeline: figure,
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

// timeline draws one trial, and names the panels in which nothing ever happened.
func (l *layout) timeline(t view.Timeline, points int) (figure *Timeline, idle []string) {
	figure = &Timeline{Trial: t.Trial, Window: [2]float64{part.Brief(t.Window[0]), part.Brief(t.Window[1])}, End: t.Window[1], Stalls: [][2]float64{}}
	for _, s := range t.Stalls {
		figure.Stalls = append(figure.Stalls, [2]float64{part.Brief(s[0]), part.Brief(s[1])})
	}
	for _, plan := range slices.Concat(panelPlans, linkPlans(t)) {
		panel, largest := plan.draw(t, points)
		switch {
		case len(panel.Lines) == 0:
		case largest == 0:
			idle = append(idle, plan.title)
		default:
			figure.Panels = append(figure.Panels, panel)
			for _, line := range panel.Lines {
				last := line.Runs[len(line.Runs)-1]
				figure.End = max(figure.End, last[len(last)-1][0])
			}
		}
	}
	figure.End = part.Brief(figure.End)
	return figure, idle
}

// linkPlans is a panel for each interface: what the server's meter saw of it, else the
// client's.
func linkPlans(t view.Timeline) []panelPlan {
	for _, role := range bothEnds {
		for _, track := range t.Tracks {
			name, ok := strings.CutPrefix(track.Name, "in by ")
			if ok && track.Of == role {
				return []panelPlan{{
					title: "bytes over " + name + " at the " + string(role),
					names: []string{"in by " + name, "out by " + name}, of: []contract.Role{role},
				}}
			}
		}
	}
	return nil
}

// draw makes the panel and finds its largest value.
func (p panelPlan) draw(t view.Timeline, points int) (panel TimelinePanel, largest float64) {
	least, unit := 0.0, ""
	for _, role := range p.of {
		for colour, name := range p.names {
			i := slices.IndexFunc(t.Tracks, func(t view.Track) bool { return t.Of == role && t.Name == name })
			if i < 0 {
				continue
			}
			track := t.Tracks[i]
			runs := peaks(track.Runs, points)
			if len(runs) == 0 {
				continue
			}
			panel.Lines = append(panel.Lines, TimelineLine{
				Name: p.lineName(role, name), Colour: colour, Runs: runs,
				Dashed: role == contract.Client && len(p.of) > 1 && !p.log,
			})
			for _, run := range runs {
				for _, point := range run {
					largest = max(largest, point[1])
					if point[1] > 0 && (least == 0 || point[1] < least) {
						least = point[1]
					}
				}
			}
			unit = track.Unit
		}
	}
	panel.Title, panel.Log = p.title, p.log && least > 0 && largest > 8*least
	if p.title == "times" {
		panel.Title = t.Times + " times"
	}
	shown := largest
	if panel.Log {
		shown = least
	}
	panel.Scale = metric.Metric{Unit: unit}.Scale(shown)
	if panel.Scale.Unit != "" {
		panel.Title += " (" + panel.Scale.Unit + ")"
	}
	return panel, largest
}

// lineName is what the legend says.
func (p panelPlan) lineName(role contract.Role, name string) string {
	if way, _, link := strings.Cut(name, " by "); link {
		return way
	}
	switch {
	case role == "" || p.title == "times" || len(p.of) < 3:
		return name
	case len(p.names) == 1:
		return string(role)
	}
	return string(role) + ", " + name
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
func timelineCaption(t view.Timeline, idle []string) string {
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
		parts = append(parts, fmt.Sprintf("Of several servers or clients the first of each is shown, %s left out; the rate is of all clients.", quantity.Plural(t.Others, "worker")))
	}
	if t.Seen > 0 {
		parts = append(parts, fmt.Sprintf("TCP is read of %s, at most %d.", quantity.Plural(t.Seen, "connection"), contract.MaxTicked))
	}
	if len(t.Stalls) > 0 {
		parts = append(parts, fmt.Sprintf("Marked red: %s.", quantity.Plural(len(t.Stalls), "standstill")))
	}
	if len(t.Flags) > 0 {
		parts = append(parts, "Flags of the trial: "+strings.Join(t.Flags, ", ")+".")
	}
	if len(idle) > 0 {
		parts = append(parts, "Zero all the time: "+strings.Join(idle, "; ")+".")
	}
	return strings.Join(parts, " ")
}
