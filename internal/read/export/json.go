package export

import (
	"encoding/json"
	"fmt"
	"io"

	"netdyno/internal/read/finding"
)

// WriteFindings writes findings as findings.json has them.
func WriteFindings(w io.Writer, f finding.Findings) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("encode findings: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

func writeJSON(w io.Writer, r Run, _ Table) error {
	f, err := r.found()
	if err != nil {
		return err
	}
	return WriteFindings(w, f)
}
