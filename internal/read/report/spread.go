package report

import (
	"io"

	"netdyno/internal/record"
)

// SpreadText writes for a terminal what a calibrated machine tells of some
// metrics.
func SpreadText(w io.Writer, c *record.Calibration, metrics []string, opt TextOptions) error {
	t := newTerminal(opt)
	t.table(spreadTable(c, metrics))
	_, err := io.WriteString(w, t.out.String())
	return err
}
