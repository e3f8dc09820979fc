package record

import "netdyno/internal/contract"

// Edge is a worker's and its meter's account at one edge of the window.
type Edge struct {
	Reading  contract.Reading `json:"reading"`
	Meter    *contract.Meter  `json:"meter,omitempty"`
	AnswerNs int64            `json:"answer_ns,omitempty"` // from the mark to its answer, by the bench's clock; absent from older records
}
