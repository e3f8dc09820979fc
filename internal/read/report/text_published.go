package report

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// figuresShown bounds how many figures of one group the terminal lists.
const figuresShown = 12

func (t *terminal) published(p Published) {
	if len(p.Beside)+len(p.Elsewhere) == 0 {
		return
	}
	t.heading("Published figures")
	for _, r := range p.Beside {
		// Source and note are long; they stand in the other forms.
		measured := part.None
		if r.Measured != nil {
			measured = r.Measured.Text + " (" + r.Measured.Interval + ")"
		}
		t.paragraph("· ", fmt.Sprintf("%s, %s, %s: published %s, measured %s", r.Cell, r.Metric, r.Arms, r.Published, measured))
	}
	for _, g := range p.Elsewhere {
		t.paragraph("· ", g.Why)
		t.paragraph("    ", listed(g.Rows))
	}
}

// listed puts figures into one line, those of a metric together.
func listed(rows []PublishedRow) string {
	var b strings.Builder
	for i, r := range rows {
		switch {
		case i == figuresShown:
			fmt.Fprintf(&b, "; … and %s; see report.html", quantity.Plural(len(rows)-i, "more figure"))
			return b.String()
		case i == 0:
			b.WriteString(r.Metric + " of ")
		case rows[i-1].Metric != r.Metric:
			b.WriteString("; " + r.Metric + " of ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(r.Arms + " " + r.Published)
	}
	return b.String()
}
