package record

// Choice is a decision that a study asks for: of all arms and cells the one that
// is best by a metric while other metrics stay within bounds.
type Choice struct {
	Title  string            `json:"title,omitempty"`
	Best   string            `json:"best"` // a metric of which more, or less, is better
	Within []Bound           `json:"within"`
	Where  map[string]string `json:"where,omitempty"` // only trials at these levels
}

// Bound is what a metric must not exceed, or with AtLeast not fall below.
type Bound struct {
	Text    string  `json:"text"` // as the study has it: "200MB"
	Metric  string  `json:"metric"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"` // in the metric's unit, above 0
}
