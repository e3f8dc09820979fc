package report

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// boundsOf says what the control group of a worker may use and has used in the window, and
// how long it was throttled for that; "" of a group without bounds.
func boundsOf(r *record.Record, w record.Worker) string {
	span, ok := record.NewWindow(r).Span(&w)
	if !ok {
		return ""
	}
	from, to, ok := span.Groups()
	if !ok {
		return ""
	}
	_, _, length, _ := span.Metered()
	var parts []string
	if q := to.Quota; q != nil {
		text := "may use " + quantity.FormatFigure(q.CPUs()) + " CPUs"
		if to.CPUNs > 0 { // version 1 may account for it elsewhere
			text = fmt.Sprintf("%s of %s CPUs used", quantity.FormatFigure(record.Growth(from.CPUNs, to.CPUNs)/1e9/length), quantity.FormatFigure(q.CPUs()))
		}
		if share, has := span.Throttled(); has {
			held, _ := span.HeldBack()
			text += fmt.Sprintf(", throttled in %s of the periods, for %s s", quantity.FormatShare(share), quantity.FormatFigure(held))
		}
		parts = append(parts, text)
	}
	if l := to.MemoryLimit; l != nil {
		text := fmt.Sprintf("%s of %s of memory used", quantity.FormatBytes(float64(l.UsedBytes)), quantity.FormatBytes(float64(l.Bytes)))
		if before := from.MemoryLimit; before != nil && l.Met > before.Met {
			text += fmt.Sprintf(", the limit met %d times", l.Met-before.Met)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
