package report

import (
	"fmt"

	"netdyno/internal/read/compare"
)

// Table is a grid of typed values. Every row has one Datum per column.
type Table struct {
	Caption string    `json:"caption,omitempty"`
	Columns []Column  `json:"columns,omitempty"`
	Rows    [][]Datum `json:"rows,omitempty"`
	Notes   []string  `json:"notes,omitempty"`  // sentences under it, on figures that are not what the caption says
	Folded  bool      `json:"folded,omitempty"` // long and rarely needed: closed until asked for
}

// Column heads a table's column.
type Column struct {
	Title  string  `json:"title"`
	Kind   Kind    `json:"kind,omitempty"`
	Unit   string  `json:"unit,omitempty"`   // of every figure in it
	Metric string  `json:"metric,omitempty"` // the name users type, where the title abbreviates it
	Ratios Judging `json:"ratios,omitempty"` // whether its figures have ratios, and of which sort
	Colour string  `json:"colour,omitempty"` // of the activity that Title names: rrggbb
	Brief  bool    `json:"brief,omitempty"`  // of the few that a terminal shows of the table
}

// Kind is what the values of a column are. It decides how they are aligned.
type Kind string

// The kinds of column.
const (
	Words    Kind = ""        // texts
	Arms     Kind = "arm"     // names of arms
	Numbers  Kind = "number"  // figures and ratios
	Verdicts Kind = "verdict" // verdicts as words, with their reasons
	Limits   Kind = "limit"   // what bounded an arm, with the proof
)

// Number reports whether the column is aligned right.
func (c Column) Number() bool { return c.Kind == Numbers }

// Judging is what the ratios of a column are.
type Judging string

// Ratios of primary metrics carry a verdict; those of other metrics have an
// interval and no verdict.
const (
	NoRatios  Judging = ""
	Judged    Judging = "judged"
	NotJudged Judging = "not judged"
)

// Datum is one value of a table. It has the parts that are set; one without any
// part is an empty place.
type Datum struct {
	Text    string          `json:"text,omitempty"`    // a name, a word, a sentence; "–" where there is no figure
	Arm     *int            `json:"arm,omitempty"`     // place in Page.Arms of the arm that Text names
	Figure  *Number         `json:"figure,omitempty"`  // a measured figure
	Ratio   *Ratio          `json:"ratio,omitempty"`   // the figure divided by another arm's
	Verdict compare.Verdict `json:"verdict,omitempty"` // a verdict as a word
	Detail  string          `json:"detail,omitempty"`  // what stands smaller behind it: the reason of a verdict, the proof of a limit
	Strong  bool            `json:"strong,omitempty"`  // differs where its neighbours should agree
	Colour  string          `json:"colour,omitempty"`  // of the activity that Text names: rrggbb
}

// Number is a printed figure.
type Number struct {
	Text     string `json:"text"`               // "9.60", "≥ 9.60"
	Unit     string `json:"unit,omitempty"`     // where the column has none
	Interval string `json:"interval,omitempty"` // "9.31–9.90"; one block gives none
	Note     string `json:"note,omitempty"`     // what it is the quotient of, where nothing beside it says so
}

// full is the figure with its unit, interval and note on one line.
func (n Number) full() string {
	text := joined(" ", n.Text, n.Unit)
	if behind := joined(", ", n.Interval, n.Note); behind != "" {
		text += " (" + behind + ")"
	}
	return text
}

// Ratio is a printed ratio.
type Ratio struct {
	Text     string          `json:"text,omitempty"`     // "0.61×"; empty for a verdict without a ratio
	Interval string          `json:"interval,omitempty"` // "0.58–0.64"
	Of       string          `json:"of,omitempty"`       // the two figures that it is the quotient of, where these are not the arms' own
	Verdict  compare.Verdict `json:"verdict,omitempty"`
}

// none stands where there is no figure.
const none = "–"

// word is a text as a value.
func word(text string) Datum { return Datum{Text: text} }

// words are texts as values, in the order of their columns.
func words(texts ...string) []Datum {
	row := make([]Datum, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

// missing is the value of a place without a figure.
func missing() Datum { return Datum{Text: none} }

// number is a figure as a value; interval is empty for none.
func number(text, interval string) Datum {
	return Datum{Figure: &Number{Text: text, Interval: interval}}
}

// columns heads columns of texts.
func columns(titles ...string) []Column {
	list := make([]Column, len(titles))
	for i, title := range titles {
		list[i] = Column{Title: title}
	}
	return list
}

// ofKind heads columns of one kind.
func ofKind(kind Kind, titles ...string) []Column {
	list := columns(titles...)
	for i := range list {
		list[i].Kind = kind
	}
	return list
}

// numbers heads columns of figures.
func numbers(titles ...string) []Column { return ofKind(Numbers, titles...) }

// Section is a titled part of a page: a sentence or two, and tables.
type Section struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Note   string  `json:"note,omitempty"`
	Tables []Table `json:"tables,omitempty"`
}

// maxRows bounds a table; findings.json beside the report has every row.
const maxRows = 500

// bounded cuts a table at maxRows and says so in its caption.
func bounded(t Table) Table {
	if more := len(t.Rows) - maxRows; more > 0 {
		t.Rows = t.Rows[:maxRows]
		t.Caption += fmt.Sprintf(" %d more rows are in findings.json.", more)
	}
	return t
}
