package report

import (
	"slices"
	"strconv"

	"netdyno/internal/metric"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

// Flame shows where the CPU time of each end goes, by stacks; of two graphs of one
// end the browser also draws the difference.
type Flame struct {
	Unit   string       `json:"unit"`   // of costs: "µs/exchange"; "" where they are shares
	Factor float64      `json:"factor"` // by which a cost is divided for that unit
	Names  []string     `json:"names"`
	Graphs []FlameGraph `json:"graphs"`
	Told   []Told       `json:"told"` // by graph: what differs from the baseline's beyond noise

	Activities []Activity `json:"activities"` // those that frames name by their places
}

// Told is what a graph's end costs more or less than the baseline's, noise aside.
type Told struct {
	Functions  []int `json:"functions"`  // places in Names, of those that do by themselves
	Activities []int `json:"activities"` // places in Activities
}

// FlameGraph is the flame graph of one end of an arm. A frame is its depth, its place in
// Names, its cost and its activity's place in Activities. A frame stands before the
// frames that it called.
type FlameGraph struct {
	Arm    int          `json:"arm"`
	Name   string       `json:"name"`
	End    string       `json:"end"`
	Source string       `json:"source"` // how it was sampled; two of one source can be compared
	Whole  float64      `json:"whole"`
	Elided float64      `json:"elided"` // of Whole, in frames that stand for several small ones
	Frames [][4]float64 `json:"frames"`
}

// smallFunctions names the frames that stand for several: alike in all graphs, so that
// a difference compares them.
const smallFunctions = "small functions"

// maxFrames bounds the frames of a page: about 20 bytes each.
const maxFrames = 25_000

// flame draws one cell's stacks; nil when there are none.
func (l *layout) flame(cell string) (part.Heading, *Flame) {
	f := &Flame{Factor: 1, Activities: activities()}
	places := map[string]int{}
	place := func(name string) int {
		at, known := places[name]
		if !known {
			at = len(f.Names)
			places[name] = at
			f.Names = append(f.Names, name)
		}
		return at
	}
	largest, name := 0.0, ""
	for _, g := range l.Flames {
		if g.Cell != cell {
			continue
		}
		largest, name = max(largest, g.Whole), g.Metric
		graph := FlameGraph{Arm: l.place[g.Arm], Name: g.Arm, End: g.End, Source: string(g.Source), Whole: digits(g.Whole)}
		elided := 0.0
		for _, frame := range profile.Bounded(g.Frames, maxFrames/len(l.Flames)) {
			text := frame.Name
			if frame.Elided {
				text = smallFunctions
				elided += frame.Cost
			}
			graph.Frames = append(graph.Frames, [4]float64{float64(frame.Depth), float64(place(text)), digits(frame.Cost), float64(frame.Activity)})
		}
		graph.Elided = digits(elided)
		f.Graphs = append(f.Graphs, graph)
		f.Told = append(f.Told, l.apart(g, place))
	}
	if len(f.Graphs) == 0 {
		return part.Heading{}, nil
	}
	if name != "" {
		scale := metric.Shown(name).Scale(largest)
		f.Unit, f.Factor = scale.Unit, scale.Factor
	}
	return part.Heading{
		Title: "Where the CPU time goes, by stacks",
		Caption: "Each box is a function as called by the one above it, as wide as the CPU time that it and what it called took. " +
			"Colours are the activities of the table below. Click a box to see it alone. Functions too small to be seen, below 0.1 % of the whole or in a large report more, " +
			"are one box for each caller that says what they took. From probes, which no comparison uses.",
		Wide: true,
	}, f
}

// apart lists what of a graph differs from the baseline's beyond noise.
func (l *layout) apart(g profile.Flame, place func(string) int) Told {
	told := Told{Functions: []int{}, Activities: []int{}}
	for _, d := range l.Differences {
		if d.Cell != g.Cell || d.Arm != g.Arm || d.End != g.End || d.Base != l.plan.Compare.Baseline {
			continue
		}
		for _, c := range d.Functions {
			if at := place(c.Name); c.Told && !slices.Contains(told.Functions, at) {
				told.Functions = append(told.Functions, at)
			}
		}
		for i, a := range activities() {
			if slices.ContainsFunc(d.Activities, func(c profile.Change) bool { return c.Told && c.Name == a.Name }) {
				told.Activities = append(told.Activities, i)
			}
		}
	}
	return told
}

// digits keeps four of a figure, which is more than a drawing shows.
func digits(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil || !part.Finite(short) {
		return 0
	}
	return short
}
