package report

import (
	"strings"

	"netdyno/internal/read/compare"
)

// Table is a grid of printed values. Every row has one Datum per column.
type Table struct {
	Caption string    `json:"caption"`
	Columns []Column  `json:"columns"`
	Rows    [][]Datum `json:"rows"`
	Notes   []string  `json:"notes,omitempty"`  // sentences under it, on figures that are not what the caption says
	Folded  bool      `json:"folded,omitempty"` // long and rarely needed: closed until asked for
}

// Column heads a table's column. Unit holds for every value in it.
type Column struct {
	Title  string `json:"title"`
	Unit   string `json:"unit,omitempty"`
	Metric string `json:"metric,omitempty"` // the name users type, where the title abbreviates it
	Number bool   `json:"number,omitempty"` // aligned right

	NotJudged bool `json:"not_judged,omitempty"` // its ratios are of an explored metric: they have an interval and no verdict
}

// Datum is one value. Detail is its interval or proof; Ratio, with its own
// interval in Within, is the comparison with the baseline that Verdict judges:
// Text divided by the baseline's, or what Of says.
type Datum struct {
	Text    string          `json:"text"`
	Detail  string          `json:"detail,omitempty"`
	Ratio   string          `json:"ratio,omitempty"`
	Within  string          `json:"within,omitempty"`
	Of      string          `json:"of,omitempty"`
	Verdict compare.Verdict `json:"verdict,omitempty"`
	Arm     *int            `json:"arm,omitempty"`    // place in Page.Arms, when the value names an arm
	Strong  bool            `json:"strong,omitempty"` // differs where its neighbours should agree
}

func words(texts ...string) []Datum {
	row := make([]Datum, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

// head makes columns from titles; one that begins with "#" holds numbers.
func head(titles ...string) []Column {
	columns := make([]Column, len(titles))
	for i, title := range titles {
		name, number := strings.CutPrefix(title, "#")
		columns[i] = Column{Title: name, Number: number}
	}
	return columns
}

// mark is the verdict as one character that survives black-and-white print
// and terminals without colour.
func mark(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "+"
	case compare.Worse:
		return "−"
	case compare.Equivalent:
		return "="
	case compare.CannotTell:
		return "?"
	case compare.Invalid:
		return "×"
	}
	return ""
}

// notJudged heads what is shown of explored metrics: their ratios and intervals,
// without a mark.
const notJudged = "not judged"

// marks explains mark, once per report.
const marks = "+ better   − worse   = equivalent   ? cannot tell   × invalid"
