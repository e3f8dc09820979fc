package record

// Claim is what a publication, or the study, says of its arms: it holds when
// every part of it does.
type Claim struct {
	Title      string            `json:"title"`                // as a sentence that is true or not
	Source     string            `json:"source,omitempty"`     // the publication; absent of a claim of the study's own
	Under      map[string]string `json:"under,omitempty"`      // as Published.Under: where the claim is about; it is tested in the cells that meet it
	Unmeasured string            `json:"unmeasured,omitempty"` // why no arm of the study can test it; then it has no parts
	Parts      []ClaimPart       `json:"parts"`
}

// ClaimKind is the form of a claim's part.
type ClaimKind string

// The forms of a claim's part.
const (
	Same     ClaimKind = "same"     // each arm differs from the base by less than the margin
	Higher   ClaimKind = "higher"   // each arm exceeds the base by more than the margin
	Lower    ClaimKind = "lower"    // each arm falls short of the base by more than the margin
	Sized    ClaimKind = "ratio"    // each arm's ratio to the base is Of, within the margin
	Steadier ClaimKind = "steadier" // the arms' ratios to the base vary less from cell to cell than those of Than
)

// ClaimPart is one condition, in every cell that has the levels of Where. With
// From it is about the ratio there divided by the ratio at the levels of From: an
// interaction.
type ClaimPart struct {
	Metric string            `json:"metric"`
	Is     ClaimKind         `json:"is"` // same, higher, lower, ratio, steadier
	Arms   []string          `json:"arms"`
	Base   string            `json:"base"`
	Than   []string          `json:"than,omitempty"` // of steadier
	Of     float64           `json:"of,omitempty"`   // of ratio
	Margin float64           `json:"margin"`         // ratio − 1 within which figures are the same
	Where  map[string]string `json:"where,omitempty"`
	From   map[string]string `json:"from,omitempty"` // instead of the levels of Where, of the same factors and others
}
