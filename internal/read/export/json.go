package export

import (
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"netdyno/internal/read/finding"
)

// WriteFindings writes findings as findings.json has them.
func WriteFindings(w io.Writer, f finding.Findings) error {
	// Written as it is encoded: the text of a large run is a hundred megabytes.
	if err := jsonv2.MarshalWrite(w, f, jsonv1.DefaultOptionsV1(), jsontext.WithIndent(" ")); err != nil {
		return fmt.Errorf("encode findings: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func writeJSON(w io.Writer, r Run, _ Table) error {
	f, err := r.found()
	if err != nil {
		return err
	}
	return WriteFindings(w, f)
}
