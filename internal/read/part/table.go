package part

import "netdyno/internal/read/compare"

// Table is a grid of typed values. Every row has one Datum per column.
type Table struct {
	Caption  string    `json:"caption,omitempty"`
	Columns  []Column  `json:"columns,omitempty"`
	Rows     [][]Datum `json:"rows,omitempty"`
	Notes    []string  `json:"notes,omitempty"`    // sentences under it, on figures that are not what the caption says
	Folded   bool      `json:"folded,omitempty"`   // long and rarely needed: closed until asked for; a terminal leaves it out
	Terminal *Table    `json:"terminal,omitempty"` // what a terminal shows instead of it
}

// Column heads a table's column.
type Column struct {
	Title  string  `json:"title"`
	Kind   Kind    `json:"kind,omitempty"`
	Unit   string  `json:"unit,omitempty"`   // of every figure in it
	Metric string  `json:"metric,omitempty"` // the name users type, where the title abbreviates it
	Ratios Judging `json:"ratios,omitempty"` // whether its figures have ratios, and of which sort
	Colour string  `json:"colour,omitempty"` // of the activity that Title names: rrggbb
	Brief  bool    `json:"brief,omitempty"`  // stays where a terminal has no room for all
}

// Kind is what the values of a column are. It decides how they are aligned.
type Kind string

// The kinds of column.
const (
	Words    Kind = ""        // texts
	Arms     Kind = "arm"     // names of arms: the page gives them their colours
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
	Arm     *int            `json:"arm,omitempty"`     // colour and shape of the arm that Text names: its place in the page's list of arms
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

// Full is the figure with its unit, interval and note on one line.
func (n Number) Full() string {
	text := Joined(" ", n.Text, n.Unit)
	if behind := Joined(", ", n.Interval, n.Note); behind != "" {
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

// Titles heads columns of texts.
func Titles(titles ...string) []Column { return OfKind(Words, titles...) }

// Figures heads columns of figures.
func Figures(titles ...string) []Column { return OfKind(Numbers, titles...) }

// OfKind heads columns of one kind.
func OfKind(kind Kind, titles ...string) []Column {
	list := make([]Column, len(titles))
	for i, title := range titles {
		list[i] = Column{Title: title, Kind: kind}
	}
	return list
}

// Plain leaves out intervals, notes and details.
func (t Table) Plain() Table {
	return t.each(Datum.Plain)
}

// Plain leaves out its interval, note and detail.
func (d Datum) Plain() Datum {
	d.Detail = ""
	if d.Figure != nil {
		d.Figure = &Number{Text: d.Figure.Text, Unit: d.Figure.Unit}
	}
	return d
}

// WithoutIntervals leaves ratios without their intervals.
func (t Table) WithoutIntervals() Table {
	return t.each(func(d Datum) Datum {
		if d.Ratio != nil {
			bare := *d.Ratio
			bare.Interval, d.Ratio = "", &bare
		}
		return d
	})
}

// each is a copy of the table with every value changed.
func (t Table) each(change func(Datum) Datum) Table {
	rows := make([][]Datum, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]Datum, len(row))
		for j, d := range row {
			rows[i][j] = change(d)
		}
	}
	t.Rows = rows
	return t
}

// Between is the first column and those from first up to last.
func (t Table) Between(first, last int) Table {
	cut := Table{Columns: append([]Column{t.Columns[0]}, t.Columns[first:last]...)}
	for _, row := range t.Rows {
		cut.Rows = append(cut.Rows, append([]Datum{row[0]}, row[first:last]...))
	}
	return cut
}
