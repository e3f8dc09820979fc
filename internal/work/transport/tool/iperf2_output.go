package tool

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The columns of iperf2's report in CSV. Source: iperf(1), reportstyle C.
const (
	fromPort  = 2
	toPort    = 4
	streamID  = 5
	bytesAt   = 7
	bitsPerS  = 8
	minFields = 9
)

// readIperf2 reads one line for each stream and direction. The direction shows
// in the place of the server's port: on the right where the client sent.
func readIperf2(f flow, stdout []byte, _ window) (selfReport, error) {
	s := selfReport{values: map[string]float64{}}
	lines := csv.NewReader(bytes.NewReader(stdout))
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	known := false
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return selfReport{}, fmt.Errorf("read iperf's CSV: %w", err)
		}
		if len(line) < minFields {
			return selfReport{}, fmt.Errorf("read iperf's CSV: a line of %d fields, expected at least %d", len(line), minFields)
		}
		if line[streamID] == "-1" { // the sum of the others
			continue
		}
		moved, err := strconv.ParseInt(line[bytesAt], 10, 64)
		if err != nil || moved < 0 {
			return selfReport{}, fmt.Errorf("read iperf's CSV: %q bytes, expected a whole number", line[bytesAt])
		}
		rate, err := strconv.ParseInt(line[bitsPerS], 10, 64)
		if err != nil || rate < 0 {
			return selfReport{}, fmt.Errorf("read iperf's CSV: %q bits per second, expected a whole number", line[bitsPerS])
		}
		switch f.port {
		case line[toPort]:
			s.sent += moved
			s.values["sent_bytes_per_s"] += float64(rate) / 8
		case line[fromPort]:
			s.received += moved
			s.values["received_bytes_per_s"] += float64(rate) / 8
		default:
			return selfReport{}, fmt.Errorf("read iperf's CSV: a stream between the ports %s and %s, expected one of them to be %s", line[fromPort], line[toPort], f.port)
		}
		known = true
	}
	if !known {
		return selfReport{}, errors.New("read iperf's CSV: no line of a stream")
	}
	return s, nil
}
