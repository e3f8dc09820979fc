package report

import (
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/profile"
)

// Profile shows what the CPU of each arm was busy with in one cell, by the
// samples of its probes.
type Profile struct {
	Table     Table   `json:"table"`     // shares by activity, a row per end
	Functions []Table `json:"functions"` // the top of each end

	Differences []Difference `json:"differences,omitempty"` // of compared arms
}

// Shares shows CPU samples by activity, a bar for each end of an arm.
type Shares struct {
	Parts []string    `json:"parts"` // from left to right
	Arms  []ArmShares `json:"arms"`
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
	Shares []float64 `json:"shares"`
	Texts  []string  `json:"texts"`
}

// maxFunctions bounds the rows of all tables of functions together.
const maxFunctions = 2000

// shares draws one cell's profiles; nil when there are none.
func (l *layout) shares(cell string) (Heading, *Shares) {
	s := &Shares{Parts: l.activities()}
	for _, p := range l.profilesOf(cell) {
		i := slices.IndexFunc(s.Arms, func(a ArmShares) bool { return a.Name == p.Arm })
		if i < 0 {
			i = len(s.Arms)
			s.Arms = append(s.Arms, ArmShares{Arm: l.place[p.Arm], Name: p.Arm})
		}
		bar := ShareBar{Of: p.End, Shares: make([]float64, len(s.Parts)), Texts: make([]string, len(s.Parts))}
		for j, part := range s.Parts {
			if share := shareOf(p, part); finite(share) && share > 0 && share <= 1 {
				bar.Shares[j], bar.Texts[j] = brief(share), percent(share)
			}
		}
		s.Arms[i].Bars = append(s.Arms[i].Bars, bar)
	}
	if len(s.Arms) == 0 {
		return Heading{}, nil
	}
	return Heading{
		Title: "What the CPU was busy with",
		Caption: "CPU samples of the window by activity, each sample in exactly one, for both ends of each arm. " +
			"They come from probes: trials with the profiler on, which no comparison uses.",
		Wide: true,
	}, s
}

// profile makes the tables of one cell's profiles, nil when there are none.
func (l *layout) profile(cell string) *Profile {
	profiles := l.profilesOf(cell)
	if len(profiles) == 0 {
		return nil
	}
	activities := l.busy(cell)
	t := Table{
		Caption: "Share of CPU samples by activity, from probes, which no comparison uses.",
		Columns: []Column{{Title: "arm", Kind: Arms}},
	}
	for _, activity := range activities {
		t.Columns = append(t.Columns, Column{Title: activity, Kind: Numbers, Unit: "%"})
	}
	t.Columns = append(t.Columns, Column{Title: "sampled", Kind: Numbers, Unit: "CPU s"})
	most := max(3, min(20, maxFunctions/len(l.Profiles)))
	p := &Profile{}
	for _, each := range profiles {
		arm := l.named(each.Arm)
		arm.Detail = each.End
		row := []Datum{arm}
		for _, activity := range activities {
			row = append(row, number(quantity.FormatFigure(100*shareOf(each, activity)), ""))
		}
		t.Rows = append(t.Rows, append(row, number(quantity.FormatFigure(each.Seconds), "")))
		if top := functions(each, most); len(top.Rows) > 0 {
			p.Functions = append(p.Functions, top)
		}
	}
	p.Table, p.Differences = t, l.differences(cell)
	return p
}

// functions lists the top of one end in the order of its own time.
func functions(p profile.Profile, most int) Table {
	t := Table{Caption: fmt.Sprintf("Top functions of %s, %s.", p.Arm, p.End), Columns: []Column{
		{Title: "flat", Kind: Numbers, Unit: "%"}, {Title: "cumulative", Kind: Numbers, Unit: "%"}, {Title: "function"},
	}}
	for _, f := range p.Flat[:min(len(p.Flat), most)] {
		t.Rows = append(t.Rows, []Datum{number(quantity.FormatFigure(100*f.Flat), ""), number(quantity.FormatFigure(100*f.Cumulative), ""), word(f.Name)})
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

// activities lists every activity of the findings, in their order: each has
// one colour in all cells.
func (l *layout) activities() []string {
	var all []string
	for _, p := range l.Profiles {
		for _, s := range p.Shares {
			if !slices.Contains(all, s.Activity) {
				all = append(all, s.Activity)
			}
		}
	}
	return all
}

// busy lists the activities that took any time in the cell.
func (l *layout) busy(cell string) []string {
	profiles := l.profilesOf(cell)
	return slices.DeleteFunc(l.activities(), func(activity string) bool {
		return !slices.ContainsFunc(profiles, func(p profile.Profile) bool { return shareOf(p, activity) > 0 })
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
