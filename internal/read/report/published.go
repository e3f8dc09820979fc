package report

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// Published is what publications say of the study's arms: ratios beside those
// measured here, and the others with the reason why they stand beside nothing.
type Published struct {
	Beside    []PublishedRow   `json:"beside,omitempty"`
	Elsewhere []PublishedGroup `json:"elsewhere,omitempty"`
}

// PublishedRow is one published ratio.
type PublishedRow struct {
	Cell      string      `json:"cell,omitempty"`
	Metric    string      `json:"metric"`
	Arms      string      `json:"arms"` // "go-epoll ÷ go-net"
	Published string      `json:"published"`
	Measured  *part.Ratio `json:"measured,omitempty"` // nil when the arms have no ratio here, or none to put beside it
	Source    string      `json:"source"`
	Note      string      `json:"note,omitempty"`
}

// PublishedGroup is the figures that stand beside no measurement for the same
// reason: "published under other conditions: connections=40 (here 4)".
type PublishedGroup struct {
	Why  string         `json:"why"`
	Rows []PublishedRow `json:"rows"`
}

func (l *layout) published() Published {
	var all Published
	for _, p := range l.Findings.Published {
		row := PublishedRow{
			Metric: p.Metric, Arms: p.Arm + " ÷ " + p.Base, Published: part.Times(p.Published.Ratio), Source: p.Source, Note: p.Note,
		}
		if why := notBeside(p); why != "" {
			row.Arms += l.told(p)
			all.put(why, row)
			continue
		}
		row.Cell = cmp.Or(cmp.Or(p.Cell, p.Published.Cell), "all")
		if p.Measured > 0 {
			row.Measured = &part.Ratio{Text: part.Times(p.Measured), Interval: part.Span(p.Low, p.High)}
		}
		all.Beside = append(all.Beside, row)
	}
	return all
}

// told names the levels that tell a figure from others of the same arms: those of
// its conditions that the study varies. " at message=simple".
func (l *layout) told(p view.Published) string {
	var levels []string
	for _, f := range l.Header.Study.Vary {
		level, stated := p.Under[f.Name]
		unmet := slices.ContainsFunc(p.Unmet, func(u cells.Unmet) bool { return u.Condition == f.Name })
		if stated && !unmet {
			levels = append(levels, f.Name+"="+level)
		}
	}
	return cells.InCell(strings.Join(levels, " "))
}

// put adds a row to the group of its reason.
func (p *Published) put(why string, row PublishedRow) {
	for i := range p.Elsewhere {
		if p.Elsewhere[i].Why == why {
			p.Elsewhere[i].Rows = append(p.Elsewhere[i].Rows, row)
			return
		}
	}
	p.Elsewhere = append(p.Elsewhere, PublishedGroup{Why: why, Rows: []PublishedRow{row}})
}

// notBeside says why a published figure stands beside no measurement; "" for
// one that does.
func notBeside(p view.Published) string {
	if p.Unmeasured != "" {
		return "published, not measured here: " + p.Unmeasured
	}
	if len(p.Unmet) == 0 {
		return ""
	}
	return "published under other conditions: " + cells.Conditions(p.Unmet)
}

// publishedSection lays the figures out as tables.
func (l *layout) publishedSection() part.Section {
	p := l.published()
	beside := part.Table{
		Caption: "Published and measured ratios side by side, measured under the conditions that the publication states, with the intervals of the comparisons.",
		Columns: slices.Concat(part.Titles("cell", "metric", "arm ÷ base"), part.Figures("published", "measured here"), part.Titles("source", "note")),
	}
	for _, r := range p.Beside {
		measured := part.Missing()
		if r.Measured != nil {
			measured = part.Datum{Ratio: r.Measured}
		}
		beside.Rows = append(beside.Rows, []part.Datum{
			part.Word(r.Cell), part.Word(r.Metric), part.Word(r.Arms), {Ratio: &part.Ratio{Text: r.Published}}, measured, part.Word(r.Source), part.Word(r.Note),
		})
	}
	elsewhere := part.Table{
		Caption: "Published, with nothing measured here under the same conditions.",
		Columns: slices.Concat(part.Titles("why", "metric", "arm ÷ base"), part.Figures("published"), part.Titles("source", "note")),
	}
	for _, g := range p.Elsewhere {
		for _, r := range g.Rows {
			elsewhere.Rows = append(elsewhere.Rows, []part.Datum{
				part.Word(g.Why), part.Word(r.Metric), part.Word(r.Arms), {Ratio: &part.Ratio{Text: r.Published}}, part.Word(r.Source), part.Word(r.Note),
			})
		}
	}
	return part.Section{
		ID: "published", Title: "Published figures",
		Notes:  []string{"Ratios between two arms can be compared across machines when they were measured under the same conditions. Absolute figures cannot."},
		Tables: []part.Table{beside, part.Bounded(elsewhere)},
	}
}
