package report

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// The picture shows the figures of the tables, the best arm of the first primary metric
// first, and where each stands beside the best.
func TestThePictureShowsTheTablesFiguresBestFirst(t *testing.T) {
	f := sample(6)
	f.Best = &best.Judged{Sets: []best.Set{{Cell: sampleCells[0], Metric: sampleCost, Arms: []best.Arm{{Name: "asio", Standing: best.Best}, {Name: "go-net", Standing: best.Worse}}}}}
	p := New(f)
	if p.Picture == nil || p.Picture.Picture == nil {
		t.Fatal("there is no picture")
	}
	picture := p.Picture.Picture
	if len(picture.Panels) != 2 || len(picture.Groups) != 2 || picture.Marks {
		t.Fatalf("%d panels, %d groups, marks %v", len(picture.Panels), len(picture.Groups), picture.Marks)
	}
	for i, g := range picture.Groups {
		known := slices.DeleteFunc(slices.Clone(g.Rows), func(r PictureRow) bool { return r.Figures[0].Hint == "" })
		if !slices.IsSortedFunc(known, func(a, b PictureRow) int { return int(a.Figures[0].Value*1e6 - b.Figures[0].Value*1e6) }) {
			t.Errorf("%s: the best is not first", g.Name)
		}
		for _, r := range known {
			c := f.Cells[i]
			arm := c.Arms[slices.IndexFunc(c.Arms, func(a cells.Arm) bool { return a.Name == r.Name })]
			s, _ := arm.Summary(sampleCost)
			if want := figureText(s, picture.Panels[0].Axis.Scale); r.Figures[0].Label != want {
				t.Errorf("%s of %s is %s, the table says %s", sampleCost, r.Name, r.Figures[0].Label, want)
			}
			if r.Figures[0].Low > r.Figures[0].Value || r.Figures[0].High < r.Figures[0].Value {
				t.Errorf("%s: the interval %g–%g does not hold %g", r.Name, r.Figures[0].Low, r.Figures[0].High, r.Figures[0].Value)
			}
		}
	}
	notes := map[string]string{}
	for _, r := range picture.Groups[0].Rows {
		notes[r.Name] = r.Figures[0].Note
	}
	if picture.Groups[0].Rows[0].Name != "asio" || notes["asio"]+notes["go-net"] != "" { // the best, and one that is worse
		t.Errorf("the standings are %v", notes)
	}
}

// Many cells are rows of marks, and more than a screen holds are left to the tables.
func TestThePictureOfManyCellsIsBounded(t *testing.T) {
	f := sample(6)
	cell := f.Cells[0]
	f.Cells = nil
	for i := range 30 {
		cell.Name, cell.Levels = "size="+strings.Repeat("x", i+1), map[string]string{"size": strings.Repeat("x", i+1)}
		f.Cells = append(f.Cells, cell)
	}
	picture := New(f).Picture
	if !picture.Picture.Marks || len(picture.Picture.Groups) != pictureCells || !strings.Contains(picture.Caption, "10 more cells below") {
		t.Errorf("marks %v, %d groups: %s", picture.Picture.Marks, len(picture.Picture.Groups), picture.Caption)
	}
}

// Over a factor of numbers the arms are lines, a chart for each primary metric.
func TestThePictureOverAFactor(t *testing.T) {
	f := sample(6)
	third := f.Cells[1]
	third.Name, third.Levels = "connections=1000", map[string]string{"connections": "1000"}
	f.Cells = append(f.Cells, third)
	f.Cells[0].Levels, f.Cells[1].Levels = map[string]string{"connections": "50"}, map[string]string{"connections": "10000"}
	picture := New(f).Picture
	if picture.Panels == nil || len(picture.Panels.Charts) != 2 {
		t.Fatalf("%+v", picture)
	}
	chart := picture.Panels.Charts[0]
	if chart.X.Title != "connections" || len(chart.Lines) != len(sampleArms) || !slices.IsSortedFunc(chart.X.Ticks, func(a, b part.Tick) int { return int(a.At - b.At) }) {
		t.Errorf("%+v", chart.X)
	}
}

// What a reader must be careful about is one line, whatever there is.
func TestCareIsOneLine(t *testing.T) {
	f := sample(6)
	for i := range 9 {
		f.Warnings = append(f.Warnings, record.Warning{About: "about" + strings.Repeat("x", i), Text: "something"})
	}
	care := New(f).Care
	if !strings.HasPrefix(care, "Weakened by: ") || !strings.HasSuffix(care, " more)") || strings.Contains(care, "\n") {
		t.Errorf("%q", care)
	}
	f = sample(6)
	f.Tally.Failed, f.Tally.Invalid, f.Warnings = 0, 0, nil
	f.Comparisons = nil
	for i := range f.Cells {
		for j := range f.Cells[i].Arms {
			f.Cells[i].Arms[j].Trials = nil
		}
	}
	if care := New(f).Care; care != "" {
		t.Errorf("nothing weakens the answer, and it says %q", care)
	}
}
