package cells

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Level is the significance that a verdict needs, of adjusted p values; the
// stages of a study share it out.
const Level = 0.05

// Read sorts a run's records into its plan and examines each.
func Read(header record.Header, trials []record.Trial, records []record.Record) (*Dataset, error) {
	for _, name := range header.Study.Compare.Primary {
		if _, err := metric.Named(name); err != nil {
			return nil, fmt.Errorf("read compare.primary: %w", err)
		}
	}
	s := sortOut(header, trials, records)
	trial.JudgeAll(s.Trials)
	trial.ShareLinks(header.Facts, s.Trials)
	trial.LimitByLink(s.Trials)
	return s, nil
}
