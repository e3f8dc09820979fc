package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

func sampleChart(t *testing.T, f finding.Findings, kind record.ChartKind) part.Section {
	t.Helper()
	i := slices.IndexFunc(f.Charts, func(c view.Chart) bool { return c.Spec.Kind == kind })
	if i < 0 {
		t.Fatalf("the sample has no chart of kind %s", kind)
	}
	return sectionsOf(New(f), "charts")[i]
}

// One colour and shape mean one arm on the whole page.
func TestChartsKeepTheArmsColours(t *testing.T) {
	f := sample(6)
	p := New(f)
	for _, line := range sampleChart(t, f, record.Lines).Figure.Lines.Lines {
		if got := p.Arms[line.Arm].Name; got != line.Name {
			t.Errorf("the line of %s has the colour of %s", line.Name, got)
		}
	}
	for _, point := range sampleChart(t, f, record.Front).Figure.Front.Points {
		if got := p.Arms[point.Arm].Name; got != point.Name {
			t.Errorf("the point of %s has the colour of %s", point.Name, got)
		}
	}
	for _, line := range sectionsOf(p, "charts")[1].Figure.Lines.Lines {
		if line.Arm == 0 {
			t.Errorf("level %s of another factor has the baseline's grey", line.Name)
		}
	}
}

func TestLinesAreLogarithmicWhereLevelsSpan(t *testing.T) {
	for _, c := range []struct {
		levels []float64
		log    bool
	}{
		{[]float64{1, 30}, false},
		{[]float64{1, 31}, true},
		{[]float64{0, 2048, 4096}, false},
		{[]float64{0, 2048, 1 << 20}, true},
	} {
		line := view.Line{}
		for _, x := range c.levels {
			line.Points = append(line.Points, view.Point{X: view.Coordinate{Text: fmt.Sprint(x), Value: x}, Figure: cells.Figure{N: 1, Value: 5}})
		}
		f := finding.Findings{Charts: []view.Chart{{Spec: record.Chart{Kind: record.Lines, X: "x"}, Lines: []view.Line{line}}}}
		lines := sectionsOf(New(f), "charts")[0].Figure.Lines
		if lines.X.Log != c.log || len(lines.X.Ticks) != len(c.levels) {
			t.Errorf("levels %v: log %v with %d ticks, want %v", c.levels, lines.X.Log, len(lines.X.Ticks), c.log)
		}
	}
}

// Levels that are words stand at equal distances in the order in which they
// came; without a place of their own all would hide one another at zero.
func TestWordsGetPlacesOnAnAxis(t *testing.T) {
	line := view.Line{}
	for _, word := range []string{"unary", "stream", "both"} {
		line.Points = append(line.Points, view.Point{X: view.Coordinate{Text: word}, Figure: cells.Figure{N: 1, Value: 5}})
	}
	f := finding.Findings{Charts: []view.Chart{{Spec: record.Chart{Kind: record.Lines}, Lines: []view.Line{line}}}}
	for i, p := range sectionsOf(New(f), "charts")[0].Figure.Lines.Lines[0].Points {
		if p.X != float64(i+1) {
			t.Errorf("%s stands at %v", p.Text, p.X)
		}
	}
}

func TestEveryValueOfAChartStandsInItsTable(t *testing.T) {
	for _, c := range sectionsOf(New(sample(6)), "charts") {
		var texts []string // what the pointer shows, values and units included
		switch f := c.Figure; {
		case f == nil:
			if len(c.Notes) == 0 {
				t.Errorf("%s: nothing is drawn and nobody says why", c.Title)
			}
		case f.Lines != nil:
			for _, line := range f.Lines.Lines {
				for _, point := range line.Points {
					texts = append(texts, point.Text)
				}
			}
		case f.Heat != nil:
			for _, box := range f.Heat.Boxes {
				texts = append(texts, box.Hint)
			}
		case f.Front != nil:
			for _, point := range f.Front.Points {
				texts = append(texts, point.Text)
			}
		}
		for _, text := range texts {
			if !printedIn(c.Tables[0], text) {
				t.Errorf("%s: %q is in the figure, not in the table", c.Title, text)
			}
		}
	}
}

// printedIn tells whether a table holds a value with its interval that the
// text names.
func printedIn(table part.Table, text string) bool {
	for _, row := range table.Rows {
		for _, d := range row {
			if interval := intervalIn(d); interval != "" && strings.Contains(text, ": "+shown(d)+" ") && strings.Contains(text, "("+interval+")") {
				return true
			}
		}
	}
	return false
}

func TestStatementsStandInOneTable(t *testing.T) {
	sections := sectionsOf(New(sample(6)), "expect")
	var got []string
	for _, row := range sections[0].Tables[0].Rows {
		got = append(got, row[1].Text+" "+row[2].Text)
	}
	if want := []string{"yes yes", "yes no", " undecided", "yes not here"}; !slices.Equal(got, want) {
		t.Errorf("published and here: %q, want %q", got, want)
	}
	if rows := sections[1].Tables[0].Rows; len(rows) != 3 {
		t.Errorf("%d numbers behind them, want 3", len(rows))
	}
	// A terminal has a line for each, and says of the untested why.
	if short := sections[0].Tables[0].Terminal; len(short.Notes) != 4 || !strings.HasPrefix(short.Notes[0], "Yes: ") || !strings.Contains(short.Notes[3], "no arm has a card") {
		t.Errorf("a terminal shows %+v", short)
	}
}

// A study as large as the published sweeps: 25 cells of 13 arms.
func largeFindings() finding.Findings {
	f := sample(6)
	cell, profile, chart := f.Cells[0], f.Profiles[0], f.Charts[1]
	f.Cells, f.Profiles, f.Charts = nil, nil, nil
	for i := range 25 {
		c := cell
		c.Name, c.Arms = fmt.Sprintf("connections=%d", i), nil
		for j := range 13 {
			a := cell.Arms[j%len(cell.Arms)]
			a.Name, a.Baseline = fmt.Sprintf("arm-%d", j), j == 0
			c.Arms = append(c.Arms, a)
			for _, end := range []string{"server", "client"} {
				p := profile
				p.Cell, p.Arm, p.End = c.Name, a.Name, end
				p.Flat = slices.Repeat(p.Flat, 4)
				f.Profiles = append(f.Profiles, p)
			}
		}
		f.Cells, f.Charts = append(f.Cells, c), append(f.Charts, chart)
	}
	return f
}

func TestALargeStudyStaysReadable(t *testing.T) {
	t.Parallel()
	p := New(largeFindings())
	text := string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: 80}) }))
	if n := strings.Count(text, "\n"); n > 450 {
		t.Errorf("the terminal shows %d lines, want at most 450", n)
	}
	for _, left := range []string{"more sections; see report.html", "more cells; see report.html"} {
		if !strings.Contains(text, left) {
			t.Errorf("the terminal does not say that there are %s", left)
		}
	}
	if html := render(t, p.HTML); len(html) > 5<<20 {
		t.Errorf("the page takes %d bytes, want at most 5 MiB", len(html))
	}
	rows := 0
	for _, c := range p.Cells {
		for _, table := range c.Profile.Functions {
			rows += len(table.Rows)
		}
	}
	if rows == 0 || rows > maxFunctions {
		t.Errorf("%d functions are listed, want 1 to %d", rows, maxFunctions)
	}
}

func TestChartsStayBounded(t *testing.T) {
	f := finding.Findings{}
	lines := view.Chart{Spec: record.Chart{Kind: record.Lines}}
	heat := view.Chart{Spec: record.Chart{Kind: record.Heat}}
	front := view.Chart{Spec: record.Chart{Kind: record.Front}}
	one := cells.Figure{N: 1, Value: 1, Low: 1, High: 1}
	for i := range 100 {
		line := view.Line{Name: fmt.Sprint(i)}
		for j := range 100 {
			x := view.Coordinate{Text: fmt.Sprint(j), Value: float64(j)}
			line.Points = append(line.Points, view.Point{X: x, Figure: one})
			heat.Tiles = append(heat.Tiles, view.Tile{X: x, Y: view.Coordinate{Text: fmt.Sprint(i), Value: float64(i)}, Figure: one})
			front.Marks = append(front.Marks, view.Mark{Name: line.Name, Cell: x.Text, Metric: one, Against: one, Front: i == 99 && j == 99})
		}
		lines.Lines = append(lines.Lines, line)
	}
	f.Charts = []view.Chart{lines, heat, front}
	charts := sectionsOf(New(f), "charts")
	for _, c := range charts {
		if len(c.Notes) == 0 {
			t.Errorf("%s: nobody says what was left out", c.Title)
		}
	}
	if n, m := len(charts[0].Figure.Lines.Lines), len(charts[0].Figure.Lines.Lines[0].Points); n != maxChartLines || m != maxChartPoints {
		t.Errorf("%d lines of %d points", n, m)
	}
	if n := len(charts[1].Figure.Heat.Boxes); n != maxTiles*maxTiles {
		t.Errorf("%d boxes", n)
	}
	if points := charts[2].Figure.Front.Points; len(points) != maxMarks || !points[0].On {
		t.Errorf("%d points, the first on the front: %v; the front comes first", len(points), points[0].On)
	}
}

// What no axis can take is left out of the figure and a dash in the table.
func TestGarbageInCharts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []cells.Figure{{N: 3, Value: nan}, {N: 3, Value: inf, High: inf}, {N: 3, Value: -1}, {N: -1, Value: 1, Low: nan, High: inf}, {}} {
		f := sample(6)
		f.Charts[0].Lines[0].Points[0].Figure = bad
		f.Charts[0].Lines[1].Points[1].X.Value = nan
		f.Charts[2].Tiles[0].Figure = bad
		f.Charts[3].Marks[0].Metric, f.Charts[3].Marks[1].Against = bad, bad
		f.Charts[3].Spec.Kind, f.Charts[4].Spec.Kind = record.Front, "unheard of"
		f.Profiles[0].Shares[0].Share, f.Profiles[1].Arm = nan, "nobody"
		p := New(f)
		for _, html := range [][]byte{withoutAssets(render(t, p.HTML)), render(t, p.Markdown)} {
			if strings.Contains(string(html), "NaN") || strings.Contains(string(html), "+Inf") {
				t.Errorf("%+v is printed as a number: %s", bad, regexp.MustCompile(`.{0,80}(NaN|\+Inf).{0,20}`).Find(html))
			}
		}
		render(t, func(w io.Writer) error { return p.Text(w, TextOptions{}) })
	}
}
