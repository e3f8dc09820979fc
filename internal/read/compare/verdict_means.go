package compare

// verdictMeans says what each verdict stands for (specification §6.3).
var verdictMeans = map[Verdict]string{
	Better:      "the whole interval lies beyond the margin and the machine's own noise, on the good side",
	Worse:       "the whole interval lies beyond the margin and the machine's own noise, on the bad side",
	Equivalent:  "the whole interval lies inside the margin: a difference, if there is one, is too small to matter",
	CannotTell:  "the interval is too wide for any of the others, or the blocks are too few; the report says what would decide it",
	Invalid:     "the figures may not be compared, for the reason given",
	Unsupported: "one of the two cannot run here, as its worker says; the cell stays empty",
	NotJudged:   "an explored comparison: it was not declared before the run, so it has a ratio and an interval but no verdict",
}

// Verdicts returns all verdicts in their order.
func Verdicts() []Verdict {
	return []Verdict{Better, Worse, Equivalent, CannotTell, Invalid, Unsupported, NotJudged}
}

// Means returns what a verdict stands for.
func (v Verdict) Means() string { return verdictMeans[v] }
