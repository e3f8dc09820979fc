package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

// Profile shows what the CPU of each arm was busy with in one cell, by the
// samples of its probes.
type Profile struct {
	Table     part.Table   `json:"table"`             // shares by activity, a row per end
	Functions []part.Table `json:"functions"`         // the top of each end
	Overhead  part.Table   `json:"overhead,omitzero"` // what probing costs each arm

	Differences []Difference `json:"differences,omitempty"` // of compared arms

	Files  []ProfileFile `json:"files,omitempty"`  // of each end, for other tools
	Graphs []CallGraph   `json:"graphs,omitempty"` // of each end, where they were asked for
}

// ProfileFile is a link from the report to a file beside it.
type ProfileFile struct {
	Of   string `json:"of"`   // "go-net, server"
	Path string `json:"path"` // relative
}

// Shares shows CPU samples by activity, a bar for each end of an arm.
type Shares struct {
	Parts []Activity  `json:"parts"` // from left to right
	Arms  []ArmShares `json:"arms"`
}

// Activity is what CPU time went into, with the colour that it has everywhere.
type Activity struct {
	Name   string `json:"name"`
	Colour string `json:"colour"` // rrggbb
}

// activities are all of them, in the order of precedence.
func activities() []Activity {
	var all []Activity
	for _, a := range profile.Activities() {
		all = append(all, Activity{a.Name, a.Colour})
	}
	return all
}

// activity is an activity's name with its colour; a name that none has is a text.
func activity(name string) part.Datum {
	d := part.Word(name)
	for _, a := range activities() {
		if a.Name == name {
			d.Colour = a.Colour
		}
	}
	return d
}

// ArmShares is one arm's bars.
type ArmShares struct {
	Arm  int        `json:"arm"`
	Name string     `json:"name"`
	Bars []ShareBar `json:"bars"`
}

// ShareBar is one end: shares by part, and as they are printed.
type ShareBar struct {
	Of     string    `json:"of"`
	Length float64   `json:"length"` // by its cost, of the longest bar's
	Total  string    `json:"total"`  // its cost, "36.3 µs/exchange"; "" where it is not known
	Shares []float64 `json:"shares"`
	Texts  []string  `json:"texts"`
}

// maxFunctions bounds the rows of all tables of functions together.
const maxFunctions = 2000

// shares draws one cell's profiles; nil when there are none.
func (l *layout) shares(cell string) (part.Heading, *Shares) {
	s := &Shares{Parts: activities()}
	costs := l.costsOf(cell)
	for _, p := range l.profilesOf(cell) {
		i := slices.IndexFunc(s.Arms, func(a ArmShares) bool { return a.Name == p.Arm })
		if i < 0 {
			i = len(s.Arms)
			s.Arms = append(s.Arms, ArmShares{Arm: l.place[p.Arm], Name: p.Arm})
		}
		bar := ShareBar{Of: p.End, Length: costs.length(p), Total: costs.total(p), Shares: make([]float64, len(s.Parts)), Texts: make([]string, len(s.Parts))}
		for j, a := range s.Parts {
			if share := shareOf(p, a.Name); part.Finite(share) && share > 0 && share <= 1 {
				bar.Shares[j], bar.Texts[j] = part.Brief(share), part.Percent(share)
			}
		}
		s.Arms[i].Bars = append(s.Arms[i].Bars, bar)
	}
	if len(s.Arms) == 0 {
		return part.Heading{}, nil
	}
	return part.Heading{
		Title: "What the CPU was busy with",
		Caption: "CPU time by activity, each sample in exactly one, for both ends of each arm; a bar is as long as the CPU time that its end took for the same work. " +
			"They come from probes: trials with the profiler on, which no comparison uses." + strings.Join(append([]string{""}, sources(l.profilesOf(cell))...), " "),
		Wide: true,
	}, s
}

// profile makes the tables of one cell's profiles, nil when there are none.
func (l *layout) profile(cell string) *Profile {
	profiles := l.profilesOf(cell)
	if len(profiles) == 0 {
		return nil
	}
	columns := busy(profiles)
	t := part.Table{
		Caption: "Share of CPU samples by activity, from probes, which no comparison uses.",
		Columns: []part.Column{{Title: "arm", Kind: part.Arms}},
	}
	for _, a := range columns {
		t.Columns = append(t.Columns, part.Column{Title: a.Name, Kind: part.Numbers, Unit: "%", Colour: a.Colour})
	}
	t.Columns = append(t.Columns, part.Column{Title: "sampled", Kind: part.Numbers, Unit: "CPU s"})
	t.Notes = sources(profiles)
	most := max(3, min(20, maxFunctions/len(l.Profiles)))
	p := &Profile{}
	for _, each := range profiles {
		arm := l.named(each.Arm)
		arm.Detail = each.End
		if each.File != "" {
			p.Files = append(p.Files, ProfileFile{each.Arm + ", " + each.End, profile.Directory + "/" + each.File})
		}
		row := []part.Datum{arm}
		for _, a := range columns {
			row = append(row, part.Value(quantity.FormatFigure(100*shareOf(each, a.Name)), ""))
		}
		t.Rows = append(t.Rows, append(row, part.Value(quantity.FormatFigure(each.Seconds), "")))
		if top := functions(each, most); len(top.Rows) > 0 {
			p.Functions = append(p.Functions, top)
		}
	}
	p.Table, p.Overhead, p.Differences = t, l.overhead(cell), l.differences(cell)
	return p
}

// sources says how profiles were taken, and what shares of such that were taken
// differently do not have in common.
func sources(profiles []profile.Profile) []string {
	by := map[profile.Source][]string{}
	for _, p := range profiles {
		by[p.Source] = append(by[p.Source], p.Arm+" ("+p.End+")")
	}
	var notes []string
	own, blind := by[profile.Runtime], by[profile.NoKernel]
	switch {
	case len(own) > 0 && len(by) == 1:
		notes = append(notes, "Go's own profiler sampled, which does not see into the kernel: its work counts as system calls and scheduler.")
	case len(own) > 0:
		notes = append(notes, "Sources differ: Go's own profiler sampled "+strings.Join(own, ", ")+". It does not see into the kernel, whose work counts there as system calls and scheduler; perf sampled the others.")
	}
	if len(blind) > 0 {
		notes = append(notes, "perf was not permitted to see the kernel of "+strings.Join(blind, ", ")+": these shares are of the program's own code alone.")
	}
	return notes
}

// functions lists the top of one end in the order of its own time.
func functions(p profile.Profile, most int) part.Table {
	t := part.Table{Caption: fmt.Sprintf("Top functions of %s, %s.", p.Arm, p.End), Columns: []part.Column{
		{Title: "flat", Kind: part.Numbers, Unit: "%"}, {Title: "cumulative", Kind: part.Numbers, Unit: "%"}, {Title: "function"},
	}}
	for _, f := range p.Flat[:min(len(p.Flat), most)] {
		t.Rows = append(t.Rows, []part.Datum{part.Value(quantity.FormatFigure(100*f.Flat), ""), part.Value(quantity.FormatFigure(100*f.Cumulative), ""), part.Word(f.Name)})
	}
	return t
}

func (l *layout) profilesOf(cell string) []profile.Profile {
	var profiles []profile.Profile
	for _, p := range l.Profiles {
		if p.Cell == cell {
			profiles = append(profiles, p)
		}
	}
	return profiles
}

// busy lists the activities that took any time.
func busy(profiles []profile.Profile) []Activity {
	return slices.DeleteFunc(activities(), func(a Activity) bool {
		return !slices.ContainsFunc(profiles, func(p profile.Profile) bool { return shareOf(p, a.Name) > 0 })
	})
}

func shareOf(p profile.Profile, activity string) float64 {
	for _, s := range p.Shares {
		if s.Activity == activity {
			return s.Share
		}
	}
	return 0
}

// Difference says in what two arms' CPU time differs, by their probes.
type Difference struct {
	Sentence   string     `json:"sentence"`
	Activities part.Table `json:"activities"`         // a row each, after the whole
	Functions  part.Table `json:"functions,omitzero"` // of more than one pair of probes
}

// differences lays out those of one cell.
func (l *layout) differences(cell string) []Difference {
	var all []Difference
	for _, d := range l.Differences {
		if d.Cell != cell {
			continue
		}
		scale := metric.Shown(d.Metric).Scale(max(d.Whole.Arm, d.Whole.Base))
		unit, per, _ := strings.Cut(scale.Unit, "/")
		columns := func(first string) []part.Column {
			return []part.Column{
				{Title: first}, {Title: l.called(d.Arm), Kind: part.Numbers, Unit: unit}, {Title: l.called(d.Base), Kind: part.Numbers, Unit: unit},
				{Title: "difference", Kind: part.Numbers, Unit: unit},
			}
		}
		of := "CPU time of the " + d.End + " per " + strings.TrimSpace(per) + ", " + l.called(d.Arm) + " and " + l.called(d.Base)
		page := Difference{
			Sentence:   d.Sentence,
			Activities: part.Table{Caption: of + ", by activity.", Columns: columns("activity"), Folded: true},
			Functions:  part.Table{Caption: of + ", by function, in itself alone.", Columns: columns("function"), Folded: true},
		}
		whole := d.Whole
		whole.Name = "all"
		for _, c := range append([]profile.Change{whole}, d.Activities...) {
			page.Activities.Rows = append(page.Activities.Rows, changeRow(c, d, scale))
		}
		for _, c := range d.Functions {
			page.Functions.Rows = append(page.Functions.Rows, changeRow(c, d, scale))
		}
		all = append(all, page)
	}
	return all
}

func changeRow(c profile.Change, d profile.Difference, scale metric.Scale) []part.Datum {
	name := activity(c.Name)
	if c.Activity != "" {
		name = part.Datum{Text: c.Name, Detail: c.Activity, Colour: activity(c.Activity).Colour}
	}
	difference := part.Value(scale.Format(c.Difference), "")
	if c.Low != c.High {
		difference = part.Value(scale.Format(c.Difference), scale.Interval(c.Low, c.High))
	}
	if d.Pairs > 1 && !c.Told {
		difference.Figure.Note = "not told apart from noise"
	}
	return []part.Datum{name, part.Value(scale.Format(c.Arm), ""), part.Value(scale.Format(c.Base), ""), difference}
}

// overhead says what probing costs the arms of a cell, a row each.
func (l *layout) overhead(cell string) part.Table {
	t := part.Table{
		Caption: "What probing costs: each arm's probes divided by its ordinary trials, which ran before them, with 95 % intervals.",
		Columns: []part.Column{{Title: "arm", Kind: part.Arms}}, Folded: true,
	}
	var metrics, arms []string
	for _, o := range l.Overheads {
		if o.Cell != cell {
			continue
		}
		row := slices.Index(arms, o.Arm)
		if row < 0 {
			row, arms = len(arms), append(arms, o.Arm)
			t.Rows = append(t.Rows, append([]part.Datum{l.named(o.Arm)}, slices.Repeat([]part.Datum{part.Missing()}, len(metrics))...))
		}
		at := slices.Index(metrics, o.Metric)
		if at < 0 {
			at, metrics = len(metrics), append(metrics, o.Metric)
			t.Columns = append(t.Columns, metricColumn(o.Metric, metric.Scale{}))
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], part.Missing())
			}
		}
		r := &part.Ratio{Text: part.Times(o.Ratio)}
		if o.Low < o.High {
			r.Interval = part.Span(o.Low, o.High)
		}
		t.Rows[row][1+at] = part.Datum{Ratio: r}
	}
	return t
}

// endCosts are what the ends of a cell cost in their probes, in one unit; empty where
// not all of them are known in one.
type endCosts struct {
	of    map[endOf]float64
	most  float64
	scale metric.Scale
}

type endOf struct{ arm, end string }

// costsOf reads them from the stacks, which add up to them.
func (l *layout) costsOf(cell string) endCosts {
	c := endCosts{of: map[endOf]float64{}}
	unit := ""
	for _, f := range l.Flames {
		if f.Cell != cell {
			continue
		}
		if f.Metric == "" || !part.Finite(f.Whole) || f.Whole <= 0 {
			return endCosts{}
		}
		m := metric.Shown(f.Metric)
		if unit != "" && unit != m.Unit {
			return endCosts{}
		}
		unit = m.Unit
		c.of[endOf{f.Arm, f.End}] = f.Whole
		if f.Whole > c.most {
			c.most, c.scale = f.Whole, m.Scale(f.Whole)
		}
	}
	for _, p := range l.profilesOf(cell) {
		if _, known := c.of[endOf{p.Arm, p.End}]; !known {
			return endCosts{}
		}
	}
	return c
}

// length is an end's cost as a share of the largest; 1 where costs are not known.
func (c endCosts) length(p profile.Profile) float64 {
	if cost, known := c.of[endOf{p.Arm, p.End}]; known && c.most > 0 {
		return part.Brief(cost / c.most)
	}
	return 1
}

func (c endCosts) total(p profile.Profile) string {
	if cost, known := c.of[endOf{p.Arm, p.End}]; known {
		return c.scale.Format(cost) + " " + c.scale.Unit
	}
	return ""
}
