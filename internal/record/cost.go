package record

// Cost is a model of what an exchange, or a process, costs, which a study asks to be
// fitted for each arm: metric = a + Σ bᵢ·xᵢ, or with Per, which is n, metric = a +
// n·(b + Σ cᵢ·xᵢ). The xᵢ are numeric levels of factors. Cells with a level of
// Holdout are not fitted: they show how far the model is off.
type Cost struct {
	Title   string              `json:"title"`
	Metric  string              `json:"metric"`
	Per     string              `json:"per,omitempty"`     // the factor n: "connections"
	Terms   []string            `json:"terms"`             // the factors xᵢ: "request", "response"
	Holdout map[string][]string `json:"holdout,omitempty"` // levels by factor
	Where   map[string]string   `json:"where,omitempty"`   // only trials at these levels
}
