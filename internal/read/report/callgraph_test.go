package report

import (
	"errors"
	"strings"
	"testing"
)

// Nothing of a drawing acts: no script, no link, no style, no reference.
func TestSVGKeepsShapesAlone(t *testing.T) {
	got, err := safeSVG([]byte(`<?xml version="1.0"?><!DOCTYPE svg><svg width="9pt" viewBox="0 0 9 9" onload="x()" xmlns="http://www.w3.org/2000/svg">
<script>alert(1)</script><style>*{}</style><image href="http://x"/><use xlink:href="#a"/>
<g class="node" id="main"><title>t</title><a xlink:href="javascript:x()"><text>gone</text></a><polygon fill="url(http://x)" stroke="black" points="1,2"/>
<text x="1" fill="#fff" font-size="12">a&lt;b&gt;&amp;&#160;c</text><foreignObject><b/></foreignObject></g></svg>`))
	want := `<svg width="9pt" viewBox="0 0 9 9"><g><polygon stroke="black" points="1,2"></polygon><g fill="#fff" font-size="12"><text x="1">a&lt;b&gt;&amp;` + "\u00a0" + `c</text></g></g></svg>`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	for _, bad := range []string{"", "hello", "<g></g>", "<svg><g>", "<html><svg></svg></html>", "<svg></g></svg>"} {
		if got, err := safeSVG([]byte(bad)); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// A drawing is on the page; what draws sees names as text, and its failure is told.
func TestCallGraphsAreDrawn(t *testing.T) {
	f := hostileFindings()
	f.Flames[0].Frames[0].Name = hostile + `a"]; b\l`
	p := New(f)
	asked := ""
	err := p.DrawCallGraphs(f, func(dot string) ([]byte, error) {
		asked = dot
		return []byte(`<svg><text>drawn here</text></svg>`), nil
	})
	if err != nil || strings.Count(asked, "\n") != strings.Count(asked, "]\n")+3 || !strings.Contains(asked, `\"]; b\\l`) {
		t.Errorf("%v\n%s", err, asked)
	}
	if page := string(render(t, p.HTML)); !strings.Contains(page, "<text>drawn here</text>") {
		t.Error("the drawing is not on the page")
	}
	if err := p.DrawCallGraphs(f, func(string) ([]byte, error) { return nil, errors.New("no room") }); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Error(err)
	}
	large := []byte("<svg><text>" + strings.Repeat("x", maxGraphBytes) + "</text></svg>")
	before := len(p.Cells[0].Profile.Graphs)
	if err := p.DrawCallGraphs(f, func(string) ([]byte, error) { return large, nil }); err != nil || len(p.Cells[0].Profile.Graphs) != before {
		t.Errorf("a drawing of %d bytes is on the page; %v", len(large), err)
	}
}
