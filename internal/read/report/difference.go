package report

import (
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

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
				{Title: first}, {Title: d.Arm, Kind: part.Numbers, Unit: unit}, {Title: d.Base, Kind: part.Numbers, Unit: unit},
				{Title: "difference", Kind: part.Numbers, Unit: unit},
			}
		}
		of := "CPU time of the " + d.End + " per " + strings.TrimSpace(per) + ", " + d.Arm + " and " + d.Base
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
