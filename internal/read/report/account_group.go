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
	from, to, length, metered := span.Metered()
	if !ok || !metered || from.Group == nil || to.Group == nil {
		return ""
	}
	var parts []string
	if q, share, has := to.Group.Quota, 0.0, false; q != nil {
		share, has = span.Throttled()
		text := fmt.Sprintf("%s of %s CPUs used", quantity.FormatFigure(record.Growth(from.Group.CPUNs, to.Group.CPUNs)/1e9/length), quantity.FormatFigure(q.CPUs()))
		if has {
			text += fmt.Sprintf(", throttled in %s of the periods, for %s s", quantity.FormatShare(share), quantity.FormatFigure(record.Growth(from.Group.Quota.ThrottledNs, q.ThrottledNs)/1e9))
		}
		parts = append(parts, text)
	}
	if l := to.Group.MemoryLimit; l != nil {
		text := fmt.Sprintf("%s of %s of memory used", quantity.FormatBytes(float64(l.UsedBytes)), quantity.FormatBytes(float64(l.Bytes)))
		if before := from.Group.MemoryLimit; before != nil && l.Met > before.Met {
			text += fmt.Sprintf(", the limit met %d times", l.Met-before.Met)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
