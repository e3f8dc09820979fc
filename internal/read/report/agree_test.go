package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/test/synthetic"
)

// What stands on a page must agree, whatever became of the study's trials: these
// tests read what the renderers printed, as a reader does.

const numeral = `-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?`

var (
	numberText   = regexp.MustCompile(`^(?:≥ )?(` + numeral + `)×?$`)
	intervalText = regexp.MustCompile(`^(` + numeral + `)–(` + numeral + `)`)
	quotientText = regexp.MustCompile(`(` + numeral + `) ÷ (` + numeral + `) \S* ?over (?:the )?(\d+) shared blocks?`)
	withInterval = regexp.MustCompile(`(` + numeral + `)×?(?: %| \S{1,12})? \((` + numeral + `)–(` + numeral + `)`)
)

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// figureIn reads a figure as it is printed; false for none.
func figureIn(t *testing.T, text string) (float64, bool) {
	t.Helper()
	m := numberText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	return parsed(t, m[1]), true
}

// rounding is how far the quotient of two figures of three digits may lie from
// its own three digits: half a unit of the last digit of each.
const rounding = 3 * 0.005

func quotient(ratio, over, under float64) bool {
	return math.Abs(ratio*under-over) <= rounding*math.Abs(over)*1.01
}

// insideInterval checks every "figure (low–high)" of a text.
func insideInterval(t *testing.T, where, text string) (n int) {
	t.Helper()
	for _, m := range withInterval.FindAllStringSubmatch(text, -1) {
		n++
		if x, low, high := parsed(t, m[1]), parsed(t, m[2]), parsed(t, m[3]); x < low || x > high {
			t.Errorf("%s: %s lies outside its interval", where, m[0])
		}
	}
	return n
}

// made keeps the findings of random studies, which several tests look at, some of them at
// the same time.
var (
	made   = map[uint64]finding.Findings{}
	making sync.Mutex
)

// thorough is set by make soak, which looks at as many pages as the tests say, and else at
// a fifth of them.
var thorough = os.Getenv("NETDYNO_SOAK") != ""

// few is how much must have been looked at, of what there is in all pages of make soak.
func few(n int) int {
	if thorough {
		return n
	}
	return (n + 19) / 20
}

// ofSeed returns the findings of a random study.
func ofSeed(seed uint64) (f finding.Findings, err error) {
	making.Lock()
	defer making.Unlock()
	f, known := made[seed]
	if !known {
		f, err = finding.Find(synthetic.Random(seed))
		made[seed] = f
	}
	return f, err
}

// pages are the pages of random studies with what they were made of.
func pages(t *testing.T, seeds uint64, check func(where string, f finding.Findings, p Page)) {
	t.Helper()
	if !thorough {
		seeds = max(5, seeds/5)
	}
	for seed := range seeds {
		f, err := ofSeed(seed)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("seed %d", seed), f, New(f))
	}
}

// tablesOf are all tables of a page.
func tablesOf(p Page) []part.Table {
	all := slices.Concat(p.Tables, p.Matrix)
	for _, a := range p.Parts {
		for _, s := range a.Sections {
			all = append(all, s.Tables...)
		}
	}
	for _, s := range p.Evidence {
		all = append(all, s.Tables...)
	}
	for _, c := range p.Cells {
		all = append(all, c.Main, c.All, c.Pairs, c.Clients)
		if c.Profile != nil {
			all = append(append(all, c.Profile.Table), c.Profile.Functions...)
			for _, d := range c.Profile.Differences {
				all = append(all, d.Activities, d.Functions)
			}
		}
	}
	return all
}

// shown is what is printed first of a value: the figure, else the ratio, the verdict or
// the text.
func shown(d part.Datum) string {
	switch {
	case d.Figure != nil:
		return part.Joined(" ", d.Figure.Text, d.Figure.Unit)
	case d.Ratio != nil && d.Text == "":
		return d.Ratio.Text
	case d.Verdict != "":
		return string(d.Verdict)
	}
	return d.Text
}

// ratioIn is the ratio of a value; the zero one where there is none.
func ratioIn(d part.Datum) part.Ratio {
	if d.Ratio == nil {
		return part.Ratio{}
	}
	return *d.Ratio
}

// intervalIn is the interval of a value's figure.
func intervalIn(d part.Datum) string {
	if d.Figure == nil {
		return ""
	}
	return d.Figure.Interval
}

func TestEveryPrintedFigureLiesInsideItsInterval(t *testing.T) {
	read := 0
	pages(t, 40, func(where string, _ finding.Findings, p Page) {
		for _, table := range tablesOf(p) {
			for _, row := range table.Rows {
				for i, d := range row {
					for _, pair := range [][2]string{{first(shown(d)), intervalIn(d)}, {ratioIn(d).Text, ratioIn(d).Interval}} {
						x, is := figureIn(t, pair[0])
						m := intervalText.FindStringSubmatch(pair[1])
						if !is || m == nil {
							continue
						}
						read++
						if low, high := parsed(t, m[1]), parsed(t, m[2]); x < low || x > high || low == high && x != low {
							t.Errorf("%s, %s, column %s: %v lies outside %v", where, table.Caption, table.Columns[i].Title, pair[0], pair[1])
						}
					}
				}
			}
		}
	})
	if read < few(1000) {
		t.Errorf("%d figures with an interval read", read)
	}
}

// own is the figure that the main table shows of an arm.
func own(c Cell, row int, metric string) (part.Datum, bool) {
	for i, column := range c.Main.Columns {
		if column.Metric == metric {
			return c.Main.Rows[row][i], true
		}
	}
	return part.Datum{}, false
}

func TestARatioIsTheQuotientOfTheFiguresBesideIt(t *testing.T) {
	plain, partial, divided, pairs := 0, 0, 0, 0
	pages(t, 60, func(where string, f finding.Findings, p Page) {
		for k, c := range p.Cells {
			base := slices.IndexFunc(f.Cells[k].Arms, func(a cells.Arm) bool { return a.Baseline })
			for _, row := range c.Main.Rows {
				for i, d := range row {
					r := ratioIn(d)
					if r.Text == "" || r.Text == cells.Unknown {
						continue
					}
					ratio, _ := figureIn(t, r.Text)
					if m := quotientText.FindStringSubmatch(r.Of); m != nil {
						partial++
						if !quotient(ratio, parsed(t, m[1]), parsed(t, m[2])) {
							t.Errorf("%s: %s is not %s", where, r.Text, r.Of)
						}
						continue
					}
					over, _ := figureIn(t, shown(d))
					under, is := figureIn(t, shown(c.Main.Rows[base][i]))
					if plain++; !is || r.Of != "" || !quotient(ratio, over, under) {
						t.Errorf("%s, %s: %s beside %s and %s (%s)", where, c.Main.Columns[i].Title, r.Text, shown(d), shown(c.Main.Rows[base][i]), r.Of)
					}
				}
			}
		}
		for _, table := range tablesOf(p) {
			ratios, values := column(table, "ratio"), column(table, "its figure")
			if ratios < 0 || values < 0 {
				continue
			}
			for _, row := range table.Rows {
				ratio, is := figureIn(t, shown(row[ratios]))
				if !is {
					continue
				}
				if divided++; !quotient(ratio, parsed(t, row[values].Figure.Text), parsed(t, row[values+1].Figure.Text)) {
					t.Errorf("%s, %s: %s of %s and %s", where, table.Caption, shown(row[ratios]), shown(row[values]), shown(row[values+1]))
				}
			}
			if column(table, "arms") >= 0 {
				pairs++
			}
		}
	})
	if plain < few(100) || partial < few(100) || divided < few(100) || pairs < few(5) {
		t.Errorf("%d ratios of the figures beside them, %d of figures over shared blocks, %d in tables of comparisons, %d tables of pairs", plain, partial, divided, pairs)
	}
}

// An interval of two blocks, or one that spans more than a factor of ten either way, is
// printed nowhere; the ratio or the figure is unknown then.
func TestNoIntervalSaysNothing(t *testing.T) {
	unknown, read := 0, 0
	check := func(where, text, interval string) {
		if text == cells.Unknown {
			unknown++
		}
		m := intervalText.FindStringSubmatch(interval)
		x, is := figureIn(t, first(text))
		if !is || m == nil || x <= 0 {
			return
		}
		read++
		low, high := parsed(t, m[1]), parsed(t, m[2])
		if even := math.Abs(high+low-2*x) <= rounding*x; even { // about an arithmetic mean, of which one figure is 0
			return
		}
		if low > 0 && (x > 10.1*low || high > 10.1*x) {
			t.Errorf("%s: %s (%s)", where, text, interval)
		}
	}
	pages(t, 40, func(where string, _ finding.Findings, p Page) {
		for _, table := range tablesOf(p) {
			for _, row := range table.Rows {
				for i, d := range row {
					if title := table.Columns[i].Title; title == "adds" || title == "share" { // amounts of any sign
						continue
					}
					check(where+", "+table.Caption, shown(d), intervalIn(d))
					check(where+", "+table.Caption, ratioIn(d).Text, ratioIn(d).Interval)
				}
			}
		}
	})
	if unknown < few(50) || read < few(1000) {
		t.Errorf("%d unknown, %d intervals read", unknown, read)
	}
}

// column is the place of the column with a title; -1 for none.
func column(t part.Table, title string) int {
	return slices.IndexFunc(t.Columns, func(c part.Column) bool { return c.Title == title })
}

// first is what stands before a unit.
func first(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// The sentence, the tables and the figures of an arm say the same.
func TestSentenceTableAndFigureSayTheSame(t *testing.T) {
	sentences, rows, dots, marks := 0, 0, 0, 0
	pages(t, 40, func(where string, f finding.Findings, p Page) {
		for _, c := range f.Comparisons {
			if !c.Primary || c.Base != f.Header.Study.Compare.Baseline {
				continue
			}
			k := slices.IndexFunc(f.Cells, func(x cells.Cell) bool { return x.Name == c.Cell })
			arm := slices.IndexFunc(f.Cells[k].Arms, func(a cells.Arm) bool { return a.Name == c.Arm })
			d, _ := own(p.Cells[k], arm, c.Metric)
			r := ratioIn(d)
			if r.Text == cells.Unknown && c.Verdict != compare.Invalid && !strings.Contains(c.Sentence, "is unknown ("+r.Interval+")") {
				t.Errorf("%s: %q, the table says %s (%s)", where, c.Sentence, r.Text, r.Interval)
			}
			if r.Text != "" && r.Text != cells.Unknown && c.Verdict != compare.Invalid {
				sentences++
				if !strings.Contains(c.Sentence, " "+r.Text+" ") || !strings.Contains(c.Sentence, "interval "+r.Interval) {
					t.Errorf("%s: %q, the table says %s (%s)", where, c.Sentence, r.Text, r.Interval)
				}
			}
			for _, figure := range p.Effects {
				for _, g := range figure.Forest.Groups {
					for _, row := range g.Rows {
						if figure.Title != effectTitle(f, c.Metric) || g.Name != f.Plan().Names.Cell(c.Cell) || row.Name != c.Arm {
							continue
						}
						rows++
						if row.Label != r.Text+" ("+r.Interval+")" || row.Low > row.Ratio || row.Ratio > row.High || len(row.Ratios) != len(row.Blocks) {
							t.Errorf("%s: %+v is drawn, the table says %s (%s)", where, row, r.Text, r.Interval)
						}
					}
				}
			}
		}
		for k, c := range p.Cells {
			for _, figure := range c.Figures {
				if figure.Dots != nil {
					metric := figure.Dots.Metric
					for i, row := range figure.Dots.Rows {
						d, has := own(c, i, metric)
						if !has || shown(d) == part.None {
							continue
						}
						if dots++; row.Label != d.Figure.Full() || row.Low > row.Value || row.Value > row.High {
							t.Errorf("%s: dots of %s: %+v, the table says %s (%s)", where, metric, row, shown(d), intervalIn(d))
						}
					}
				}
				if figure.Curve == nil {
					continue
				}
				for _, line := range figure.Curve.Lines {
					arm := slices.IndexFunc(f.Cells[k].Arms, func(a cells.Arm) bool { return a.Name == line.Name })
					for _, m := range line.Marks {
						d, has := own(c, arm, m.Metric)
						if !has || m.Metric == "" {
							continue
						}
						at := slices.IndexFunc(line.Points, func(p [2]float64) bool { return p[0] == m.Share })
						if marks++; at < 0 || !strings.HasPrefix(m.Text, shown(d)+" ") {
							t.Errorf("%s: %s marked with %s, the table says %s", where, m.Metric, m.Text, shown(d))
						}
					}
				}
			}
		}
	})
	if sentences < few(30) || rows < few(30) || dots < few(30) || marks < few(20) {
		t.Errorf("%d sentences, %d rows of forests, %d rows of dots, %d marks of curves compared", sentences, rows, dots, marks)
	}
}

func effectTitle(f finding.Findings, metric string) string {
	l := newLayout(f)
	return "Effect on " + part.Label(metric) + betterWords(l.betterOf(metric))
}

// Nothing is set against itself: a run of one arm has no ratio anywhere, and the
// baseline none beside it. Who gave no figure has no ratio.
func TestNoRatioWithoutTwoArms(t *testing.T) {
	alone, none := 0, 0
	pages(t, 40, func(where string, f finding.Findings, p Page) {
		for k, c := range f.Cells {
			cell := p.Cells[k]
			for i, column := range cell.Main.Columns {
				for k, row := range cell.Main.Rows {
					a, d := c.Arms[k], row[i]
					empty := !slices.ContainsFunc(a.Trials, func(x trial.Trial) bool { return x.Status == trial.Valid })
					if ratioIn(d).Text != "" && (a.Baseline || empty) {
						t.Errorf("%s: %s has the ratio %s (%s)", where, a.Name, ratioIn(d).Text, column.Title)
					}
					if empty && i > 0 && column.Metric != "" {
						if none++; shown(d) != "–" {
							t.Errorf("%s: %s has no valid trial and %s %s", where, a.Name, shown(d), column.Title)
						}
					}
				}
			}
			if alone++; len(f.Header.Study.Vary[0].Levels) == 1 && len(p.Effects) > 0 {
				t.Errorf("%s: a run of one arm draws effects", where)
			}
		}
	})
	if alone == 0 || none == 0 {
		t.Errorf("%d arms alone, %d without a figure", alone, none)
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// Every renderer prints what the page holds, and nothing outside its interval.
func TestRenderersPrintThePagesFigures(t *testing.T) {
	read := map[string]int{}
	pages(t, 30, func(where string, _ finding.Findings, p Page) {
		for _, width := range []int{80, 100, 140} {
			text := string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: width}) }))
			name := fmt.Sprintf("text at %d", width)
			read[name] += insideInterval(t, where+", "+name, text)
			for _, c := range p.Cells {
				for _, row := range c.Main.Rows {
					if !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
						return strings.HasPrefix(strings.TrimSpace(line), row[0].Text) && holds(line, row[1:min(2, len(row))])
					}) {
						t.Errorf("%s, %s: no line has %+v", where, name, row)
					}
				}
			}
		}
		markdown := string(render(t, p.Markdown))
		read["markdown"] += insideInterval(t, where+", markdown", strings.ReplaceAll(markdown, "*", ""))
		page := string(render(t, p.HTML))
		body, _, _ := strings.Cut(page, `<script type="application/gzip" id="figures"`)
		read["html"] += insideInterval(t, where+", html", strings.NewReplacer("</small>", ")", "<small>", "(").Replace(html.UnescapeString(body)))
		plain := html.UnescapeString(tags.ReplaceAllString(body, ""))
		for _, c := range p.Cells {
			for _, row := range c.Main.Rows {
				for _, d := range row {
					for _, form := range []string{plain, markdown} {
						for _, part := range []string{d.Text, d.Detail, shown(d), intervalIn(d), ratioIn(d).Text, ratioIn(d).Interval, ratioIn(d).Of} {
							if !strings.Contains(form, part) {
								t.Errorf("%s: %q of %+v is not printed", where, part, d)
							}
						}
					}
				}
			}
		}
		for _, f := range drawnIn(t, page).Figures {
			if f.Lines == nil {
				continue
			}
			for _, line := range f.Lines.Lines {
				for _, point := range line.Points {
					read["points"] += insideInterval(t, where+", html's figures", point.Text)
					if point.Low > point.Value || point.Value > point.High {
						t.Errorf("%s: %+v", where, point)
					}
				}
			}
		}
	})
	for _, name := range []string{"markdown", "html", "points"} {
		if read[name] < few(40) {
			t.Errorf("%s: %d figures with an interval read", name, read[name])
		}
	}
}

// holds tells whether a line has every value.
func holds(line string, row []part.Datum) bool {
	return !slices.ContainsFunc(row, func(d part.Datum) bool { return !strings.Contains(line, shown(d)) })
}

// rowsOf reads the rows of the Markdown table that has a column of the name.
func rowsOf(markdown, column string) (rows []map[string]string) {
	var titles []string
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			titles = nil
		case titles == nil:
			titles = cells
		case slices.Contains(titles, column) && len(cells) == len(titles) && !strings.HasPrefix(cells[0], ":--"):
			row := map[string]string{}
			for i, title := range titles {
				row[title] = cells[i]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// What a gate and a comparison of two runs print for a pull request divides too.
func TestGateAndCompareDivideWhatTheyShow(t *testing.T) {
	gated, none := 0, 0
	pages(t, 40, func(where string, f finding.Findings, _ Page) {
		passage, all := compare.Gate(f.Run)
		for _, row := range rowsOf(string(render(t, NewGate(f, passage, all).Markdown)), "arm's figure") {
			ratio, is := figureIn(t, first(row["ratio"]))
			if !is {
				if none++; row["ratio"] != "–" && !strings.HasPrefix(row["ratio"], cells.Unknown) || row["ratio"] == "–" && row["arm's figure"] != "–" {
					t.Errorf("%s: gate %v", where, row)
				}
				continue
			}
			if gated++; !quotient(ratio, parsed(t, first(row["arm's figure"])), parsed(t, first(row["the other's"]))) {
				t.Errorf("%s: gate %v", where, row)
			}
		}
	})
	compared := 0
	for seed := range uint64(6) {
		o := synthetic.Options{Bare: true, Blocks: 4, Connections: []int{50}, Seed: seed, SD: 0.3, BlockSD: 0.3}
		runs := make([]finding.Findings, 2)
		for i := range runs {
			o.Seed += 100
			h, trials, records := synthetic.Run(o)
			var err error
			if runs[i], err = finding.Find(h, trials, records[:len(records)-int(seed)]); err != nil {
				t.Fatal(err)
			}
		}
		apart := history.CompareRuns(runs[0].Run, runs[1].Run, nil)
		for _, row := range rowsOf(string(render(t, NewRuns(apart, runs[0], runs[1], [2]RunPlace{{Name: "a"}, {Name: "b"}}).Markdown)), "second ÷ first") {
			ratio, is := figureIn(t, first(row["second ÷ first"]))
			if !is {
				continue
			}
			was, is1 := figureIn(t, first(row["first"]))
			now, is2 := figureIn(t, first(row["second"]))
			if compared++; !is1 || !is2 || !quotient(ratio, now, was) {
				t.Errorf("seed %d: %v", seed, row)
			}
		}
	}
	if gated < few(20) || none == 0 || compared < few(30) {
		t.Errorf("%d gated, %d without a ratio, %d compared", gated, none, compared)
	}
}
