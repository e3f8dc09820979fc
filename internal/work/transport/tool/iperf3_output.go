package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// iperf3Report is what of iperf3's JSON concerns us. Source: iperf_api.c,
// iperf_json_finish and JSON_end.
type iperf3Report struct {
	End struct {
		Sent            *iperf3Sum `json:"sum_sent"`
		Received        *iperf3Sum `json:"sum_received"`
		ReverseSent     *iperf3Sum `json:"sum_sent_bidir_reverse"`
		ReverseReceived *iperf3Sum `json:"sum_received_bidir_reverse"`
	} `json:"end"`
	Error string `json:"error"`
}

type iperf3Sum struct {
	Seconds     float64 `json:"seconds"`
	Bytes       int64   `json:"bytes"`
	Retransmits int64   `json:"retransmits"`
	Sender      bool    `json:"sender"` // the client sent; else it received
}

// readIperf3 reads the report of an interrupted client. The other end's half of
// it is missing then: it is exchanged at the end of a test that was not broken off.
func readIperf3(_ flow, stdout []byte, _ window) (selfReport, error) {
	var report iperf3Report
	if err := json.Unmarshal(stdout, &report); err != nil {
		return selfReport{}, fmt.Errorf("read iperf3's JSON: %w", err)
	}
	if report.Error != "" && !strings.HasPrefix(report.Error, "interrupt") {
		return selfReport{}, fmt.Errorf("iperf3 reports: %s", report.Error)
	}
	s := selfReport{values: map[string]float64{}}
	known := false
	for _, sum := range []*iperf3Sum{report.End.Sent, report.End.ReverseSent} {
		if sum != nil && sum.Sender && sum.Seconds > 0 {
			known = true
			s.sent += sum.Bytes
			s.values["sent_bytes_per_s"] += float64(sum.Bytes) / sum.Seconds
			s.values["retransmits"] += float64(sum.Retransmits)
		}
	}
	for _, sum := range []*iperf3Sum{report.End.Received, report.End.ReverseReceived} {
		if sum != nil && !sum.Sender && sum.Seconds > 0 {
			known = true
			s.received += sum.Bytes
			s.values["received_bytes_per_s"] += float64(sum.Bytes) / sum.Seconds
		}
	}
	if !known || s.sent < 0 || s.received < 0 {
		return selfReport{}, errors.New("read iperf3's JSON: end holds no sum of what the client sent or received")
	}
	return s, nil
}

// iperf3Error returns the error in a report, with advice where there is some;
// "" when there is none.
func iperf3Error(stdout []byte) string {
	var report iperf3Report
	if json.Unmarshal(stdout, &report) != nil {
		return ""
	}
	if strings.Contains(report.Error, "server is busy") {
		return report.Error + " (an iperf3 server takes one test at a time: with several clients, set listeners to the number of connections)"
	}
	return report.Error
}
