package report

import (
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/view"
)

// withTimeline gives the first cell a timeline of its first arm, with a standstill and a
// reading that is missing.
func withTimeline(f finding.Findings) finding.Findings {
	run := func(from, to int, value float64) [][2]float64 {
		var points [][2]float64
		for i := from; i < to; i++ {
			points = append(points, [2]float64{float64(i)/5 + 0.1, value * float64(1+i%3)})
		}
		return points
	}
	track := func(name, unit string, value float64) view.Track {
		return view.Track{Name: name, Unit: unit, Runs: [][][2]float64{run(0, 7, value), run(9, 15, value)}}
	}
	f.Timelines = append(f.Timelines, view.Timeline{
		Cell: f.Cells[0].Name, Arm: f.Cells[0].Arms[0].Name, Trial: "b02-001", Of: 8, Times: "service",
		Window: [2]float64{0.5, 2.5}, Stalls: [][2]float64{{1.4, 1.8}}, Flags: []string{"stalled"},
		Tracks: []view.Track{
			track("rate", "1/s", 20_000), track("p50", "µs", 300), track("most", "µs", 30_000),
		},
	})
	return f
}

func TestATimelineIsLaidOut(t *testing.T) {
	p := New(withTimeline(sample(8)))
	times := p.Cells[0].Timelines
	if times == nil || len(times.Figures) != 1 || times.Open {
		t.Fatalf("the first cell has %+v, want one folded timeline", times)
	}
	if p.Cells[1].Timelines != nil {
		t.Error("a cell without one has a timeline")
	}
	figure := times.Figures[0]
	var titles []string
	for _, panel := range figure.Timeline.Panels {
		titles = append(titles, panel.Title)
	}
	want := "exchanges (k/s)|service times (µs)"
	if got := strings.Join(titles, "|"); got != want {
		t.Errorf("panels %s\nwant   %s", got, want)
	}
	for _, phrase := range []string{"1 standstill", "Of 8 trials", "stalled"} {
		if !strings.Contains(figure.Caption, phrase) {
			t.Errorf("the caption does not say %q: %s", phrase, figure.Caption)
		}
	}
}

func TestAThinnedTrackKeepsItsPeaks(t *testing.T) {
	var run [][2]float64
	for i := range 1000 {
		run = append(run, [2]float64{float64(i), 1})
	}
	run[777][1] = 50
	run[3][0] = -1 // before the load
	kept, highest := peaks([][][2]float64{run}, 100), 0.0
	for _, point := range kept[0] {
		highest = max(highest, point[1])
	}
	if len(kept[0]) > 100 || highest != 50 {
		t.Errorf("%d points up to %v are kept, want at most 100 with the peak of 50", len(kept[0]), highest)
	}
}

func TestWriteTimeline(t *testing.T) {
	if *out == "" {
		t.Skip("writes a report with a timeline for a browser, to the directory of -out")
	}
	writeSample(t, "timeline.html", New(withTimeline(sample(8))).HTML)
}
