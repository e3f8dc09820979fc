package report

import (
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/part"
)

// Whatever an analysis found stands in every form of the report, under its title and in
// the order of the analyses, and an arm has its colour there.
func TestEveryPartIsLaidOutEverywhere(t *testing.T) {
	f := sample(6)
	p := New(f)
	found := 0
	for _, a := range f.Analyses() {
		if _, isOne := a.(part.Answering); isOne {
			found++
		}
	}
	if len(p.Parts) < 4 || found < 3 {
		t.Fatalf("%d parts, %d analyses that answer", len(p.Parts), found)
	}
	text := string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: 400}) }))
	markdown, page := string(render(t, p.Markdown)), html.UnescapeString(string(render(t, p.HTML)))
	in := map[string]int{}
	after := func(form, whole, title string) {
		i := strings.Index(whole[in[form]:], title)
		if i < 0 {
			t.Errorf("%s lacks %q after what stands before it", form, title)
			return
		}
		in[form] += i + len(title)
	}
	coloured := 0
	for _, a := range p.Parts {
		if a.ID != "judged" && !strings.Contains(page, fmt.Sprintf("<a href=%q>%s</a>", "#"+a.ID, a.Named())) {
			t.Errorf("nothing leads to %s", a.ID)
		}
		after("markdown", markdown, "## "+a.Title)
		if a.ID == "judged" { // folded below the answer
			in["page"] = strings.Index(page, `<details class="judging">`)
		}
		after("page", page, fmt.Sprintf("<section id=%q>", a.ID))
		for _, s := range a.Sections {
			after("text", text, s.Title+"\n")
			after("markdown", markdown, "### "+inline(s.Title))
			after("page", page, "<h3>"+s.Title+"</h3>")
			for _, table := range s.Tables {
				for _, row := range table.Rows {
					for i, d := range row {
						if table.Columns[i].Kind == part.Arms && d.Arm != nil && d.Text == p.Arms[*d.Arm].Name {
							coloured++
						}
					}
				}
			}
		}
	}
	if coloured < 8 {
		t.Errorf("%d arms have their colour", coloured)
	}
}
