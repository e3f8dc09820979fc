package report

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// What holds of every page, and of every form of it: these tests look at random
// studies and at those made to have every section.

// everyPage calls check with the pages of many studies, beside other tests.
func everyPage(t *testing.T, check func(where string, p Page)) {
	t.Helper()
	t.Parallel()
	pages(t, 8, func(where string, _ finding.Findings, p Page) { check(where, p) })
	for where, f := range map[string]finding.Findings{
		"sample": sample(6), "small sample": smallSample(), "stopped": stopped(), "asked": foundAsked(t), "hostile": hostileFindings(), "nothing": {},
	} {
		check(where, New(f))
	}
}

// inText renders a page for a terminal.
func inText(t *testing.T, p Page, opt TextOptions) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return p.Text(w, opt) }))
}

// body is the HTML without its head, its data and its script.
func body(t *testing.T, p Page) string {
	t.Helper()
	page := string(withoutAssets(render(t, p.HTML)))
	_, page, _ = strings.Cut(page, "<body>")
	page, _, _ = strings.Cut(page, `<script type="application/gzip" id="figures"`)
	return page
}

// plainBody is what a reader of the HTML sees.
func plainBody(t *testing.T, p Page) string {
	t.Helper()
	return html.UnescapeString(tags.ReplaceAllString(body(t, p), "\n"))
}

func TestEveryRowHasAValueOfItsKindForEveryColumn(t *testing.T) {
	values := 0
	everyPage(t, func(where string, p Page) {
		for _, table := range tablesOf(p) {
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("%s, %s: a row of %d values under %d columns", where, table.Caption, len(row), len(table.Columns))
					continue
				}
				for i, d := range row {
					values++
					if c := table.Columns[i]; !suits(d, c.Kind) {
						t.Errorf("%s, %s, column %s of kind %q: %+v", where, table.Caption, c.Title, c.Kind, d)
					}
				}
			}
		}
	})
	if values < 3000 {
		t.Errorf("%d values looked at", values)
	}
}

// suits reports whether a value is of its column's kind.
func suits(d part.Datum, kind part.Kind) bool {
	switch kind {
	case part.Numbers:
		return d.Text == part.None && d.Figure == nil || d.Text == "" && (d.Figure != nil || d.Ratio != nil)
	case part.Verdicts:
		return d.Verdict != "" && d.Text == ""
	case part.Arms, part.Words, part.Limits:
		return d.Figure == nil && d.Ratio == nil && d.Verdict == ""
	}
	return false
}

// A page is a value: what is written to JSON and read back renders the same.
func TestAPageSurvivesJSON(t *testing.T) {
	everyPage(t, func(where string, p Page) {
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again Page
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		for form, write := range map[string]func(Page) string{
			"text":     func(p Page) string { return inText(t, p, TextOptions{}) },
			"markdown": func(p Page) string { return string(render(t, p.Markdown)) },
			"html":     func(p Page) string { return string(render(t, p.HTML)) },
		} {
			if before, after := write(p), write(again); before != after {
				t.Errorf("%s: the %s of a page that was read back differs at line %d", where, form, firstDifference([]byte(after), []byte(before)))
			}
		}
	})
}

// A ratio or an interval in any form, and what stands between two figures.
var printedFigures = regexp.MustCompile(`\d[\d,.e+-]*(?:×|–\d[\d,.e+-]*)`)

// No renderer computes: every ratio and every interval that is printed stands
// in the page, letter by letter.
func TestEveryFigureComesFromThePage(t *testing.T) {
	read := map[string]int{}
	everyPage(t, func(where string, p Page) {
		held := strings.Join(stringsIn(t, p), "\n")
		for form, printed := range map[string]string{
			"text": strings.Join(strings.Fields(inText(t, p, TextOptions{Width: 400})), " "), "markdown": string(render(t, p.Markdown)), "html": plainBody(t, p),
		} {
			for _, figure := range printedFigures.FindAllString(printed, -1) {
				if read[form]++; !strings.Contains(held, figure) {
					t.Errorf("%s: the %s prints %q, which the page does not have", where, form, figure)
				}
			}
		}
	})
	for _, form := range []string{"text", "markdown", "html"} {
		if read[form] < 100 {
			t.Errorf("%s: %d figures read", form, read[form])
		}
	}
}

// stringsIn lists every string of a page.
func stringsIn(t *testing.T, p Page) []string {
	t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, each := range v {
				walk(each)
			}
		case map[string]any:
			for _, each := range v {
				walk(each)
			}
		}
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	walk(v)
	return all
}

// What one form judges every form judges, beside the same ratio.
func TestEveryVerdictStandsInEveryForm(t *testing.T) {
	verdicts := 0
	everyPage(t, func(where string, p Page) {
		text, markdown, page := inText(t, p, TextOptions{Width: 400}), string(render(t, p.Markdown)), html.UnescapeString(body(t, p))
		want := func(form, printed, part string) {
			t.Helper()
			if verdicts++; !strings.Contains(printed, part) {
				t.Errorf("%s: the %s lacks %q", where, form, part)
			}
		}
		for _, c := range p.Cells {
			for _, row := range c.Main.Rows {
				for _, d := range row {
					r := ratioIn(d)
					if r.Verdict == "" || r.Text == "" {
						continue
					}
					if !r.Verdict.Refused() { // of which a terminal shows the mark alone
						want("text", text, r.Text+part.Bracketed(r.Interval)+" "+mark(r.Verdict))
					}
					wrapped := ""
					if strings.Contains(r.Interval, " ") {
						wrapped = ` class="of"`
					}
					want("html", page, fmt.Sprintf(`%s <i title="%s">%s</i></small> <small%s>%s</small>`, r.Text, r.Verdict, mark(r.Verdict), wrapped, r.Interval))
					if r.Of == "" {
						want("markdown", markdown, r.Text+part.Bracketed(r.Interval)+" "+mark(r.Verdict))
					} else {
						want("markdown", markdown, r.Of+" "+mark(r.Verdict))
					}
				}
			}
		}
		want("text", strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(strings.Join(p.Answer, " ")), " "))
		for _, sentence := range p.Answer {
			want("html", page, sentence)
			want("markdown", markdown, inline(sentence))
		}
	})
	if verdicts < 100 {
		t.Errorf("%d verdicts looked for", verdicts)
	}
}

// Every table with rows is a table of GitHub's Markdown: a head, a rule, and
// rows of as many places, whatever stands in them.
func TestMarkdownTablesParse(t *testing.T) {
	places := regexp.MustCompile(`(?:^|[^\\])\|`)
	everyPage(t, func(where string, p Page) {
		tables := 0
		var head, line int
		for text := range strings.Lines(string(render(t, p.Markdown))) {
			if !strings.HasPrefix(text, "|") {
				line = 0
				continue
			}
			line++
			n := len(places.FindAllString(text, -1))
			switch line {
			case 1:
				head, tables = n, tables+1
			case 2:
				if strings.Trim(text, "|:- \n") != "" {
					t.Errorf("%s: no rule under the head: %q", where, text)
				}
			}
			if n != head {
				t.Errorf("%s: %d places under a head of %d: %q", where, n, head, text)
			}
		}
		want := 0
		for _, table := range tablesOf(p) {
			if len(table.Rows) > 0 {
				want++
			}
		}
		if tables != want {
			t.Errorf("%s: %d tables, want %d", where, tables, want)
		}
	})
}

// Every element of the HTML is closed where it was opened, and every table's
// row has as many places as its head.
func TestHTMLIsWellFormed(t *testing.T) {
	element := regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*>`)
	void := []string{"meta", "link", "br"}
	everyPage(t, func(where string, p Page) {
		page := body(t, p)
		page, _, _ = strings.Cut(page, "</main>")
		var open []string
		head, places := 0, 0
		for _, m := range element.FindAllStringSubmatch(page, -1) {
			closing, name := m[1] == "/", m[2]
			switch {
			case slices.Contains(void, name):
				continue
			case !closing:
				open = append(open, name)
				if name == "tr" {
					places = 0
				}
				if name == "th" || name == "td" {
					places++
				}
				continue
			case len(open) == 0 || open[len(open)-1] != name:
				t.Fatalf("%s: </%s> closes %v", where, name, open)
			case name == "thead":
				head = places
			case name == "tr" && slices.Contains(open, "tbody") && places != head:
				t.Errorf("%s: %d places under a head of %d", where, places, head)
			}
			open = open[:len(open)-1]
		}
		if !slices.Equal(open, []string{"main"}) {
			t.Errorf("%s: left open: %v", where, open)
		}
	})
}

// A terminal's lines fit its width, but for a first column that is wider.
func TestTextOfEveryPageFitsItsWidth(t *testing.T) {
	everyPage(t, func(where string, p Page) {
		for _, width := range []int{80, 100, 140} {
			for line := range strings.Lines(inText(t, p, TextOptions{Width: width})) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width && where != "hostile" {
					t.Errorf("%s, width %d: a line of %d columns: %s", where, width, n, line)
				}
			}
		}
	})
}

// Colours carry nothing by themselves: without them the text is the same.
func TestColoursCarryNothingAlone(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	everyPage(t, func(where string, p Page) {
		colored := inText(t, p, TextOptions{Color: true})
		if plain := inText(t, p, TextOptions{}); escape.ReplaceAllString(colored, "") != plain {
			t.Errorf("%s: the text differs without its colours", where)
		}
	})
}
