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
	Table     part.Table   `json:"table"`     // shares by activity, a row per end
	Functions []part.Table `json:"functions"` // the top of each end

	Differences []Difference `json:"differences,omitempty"` // of compared arms

	Files []ProfileFile `json:"files,omitempty"` // of each end, for other tools
}

// ProfileFile is a link from the report to a file beside it.
type ProfileFile struct {
	Of   string `json:"of"`   // "go-net, server"
	Path string `json:"path"` // relative
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

// maxFunctions bounds the rows of all tables of functions together.
const maxFunctions = 2000

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
	p.Table, p.Differences = t, l.differences(cell)
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
