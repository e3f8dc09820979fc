package record

// Bound is what a metric must not exceed, or with AtLeast not fall below.
type Bound struct {
	Text    string  `json:"text"` // as the study has it: "200MB"
	Metric  string  `json:"metric"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"` // in the metric's unit, above 0
}
