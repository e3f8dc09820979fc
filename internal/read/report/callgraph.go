package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
)

// CallGraph is who calls whom in one end of an arm, drawn.
type CallGraph struct {
	Title string        `json:"title"`
	SVG   template.HTML `json:"-"` // of safe parts alone
}

// The size that the call graphs of a page may have together, and how many are tried:
// the first cells have theirs.
const (
	maxGraphs     = 16
	maxGraphBytes = 300 << 10
)

// DrawCallGraphs adds call graphs to the cells of a page whose findings are given. draw
// turns graphviz's language into SVG; its first error ends the drawing and is returned,
// and what was drawn stays.
func (p *Page) DrawCallGraphs(f finding.Findings, draw func(dot string) ([]byte, error)) error {
	left, tried := maxGraphBytes, 0
	for i, c := range f.Cells {
		if i >= len(p.Cells) || p.Cells[i].Profile == nil {
			continue
		}
		for _, flame := range f.Flames {
			if flame.Cell != c.Name || tried == maxGraphs {
				continue
			}
			tried++
			drawn, err := draw(dotOf(flame))
			if err != nil {
				return fmt.Errorf("draw the call graph of %s, %s: %w", flame.Arm, flame.End, err)
			}
			svg, err := safeSVG(drawn)
			if err != nil {
				return fmt.Errorf("read the call graph of %s, %s: %w", flame.Arm, flame.End, err)
			}
			if len(svg) > left {
				return nil
			}
			left -= len(svg)
			p.Cells[i].Profile.Graphs = append(p.Cells[i].Profile.Graphs, CallGraph{Title: "Call graph of " + flame.Arm + ", " + flame.End + ", in " + graphScale(flame).Unit, SVG: svg})
		}
	}
	return nil
}

// dotOf writes a graph in graphviz's language: a box for each function in its activity's
// colour, the larger the more it costs by itself.
func dotOf(f profile.Flame) string {
	g := profile.GraphOf(f)
	scale := graphScale(f)
	var b strings.Builder
	b.WriteString("digraph {\nbgcolor=transparent ranksep=0.2 nodesep=0.12\nnode [shape=box style=filled margin=\"0.08,0.03\" height=0 width=0 fontname=\"sans-serif\" color=\"#808080\"]\nedge [color=\"#808080\" fontcolor=\"#808080\" fontname=\"sans-serif\" fontsize=10]\n")
	all := profile.Activities()
	for i, n := range g.Nodes {
		activity := all[len(all)-1]
		if n.Activity >= 0 && n.Activity < len(all) {
			activity = all[n.Activity]
		}
		label := shortName(n.Name) + "\n" + scale.Format(n.Cost)
		if n.Flat >= shownFlat*f.Whole {
			label = shortName(n.Name) + "\n" + scale.Format(n.Flat) + " of " + scale.Format(n.Cost)
		}
		fmt.Fprintf(&b, "n%d [label=%s fillcolor=\"#%s\" fontcolor=\"#%s\" fontsize=%.0f]\n", i, dotText(label), activity.Colour, activity.Ink(), 10+30*min(0.5, max(0, n.Flat/f.Whole)))
	}
	for _, e := range g.Edges {
		label, style := " "+scale.Format(e.Cost), "solid"
		if e.Through > 0 {
			style = "dashed"
		}
		fmt.Fprintf(&b, "n%d -> n%d [label=%s style=%s penwidth=%.1f]\n", e.From, e.To, dotText(label), style, 1+5*e.Cost/f.Whole)
	}
	b.WriteString("}\n")
	return b.String()
}

// shownFlat is the share of the whole from which on a box says what its function took by
// itself.
const shownFlat = 0.005

// graphScale is the unit of a graph's figures: the flame's, or percent of its whole.
func graphScale(f profile.Flame) metric.Scale {
	if f.Metric == "" {
		return metric.Scale{Factor: f.Whole / 100, Unit: "%"}
	}
	return metric.Shown(f.Metric).Scale(f.Whole)
}

// shortName is a function's name without its path, bounded.
func shortName(name string) string {
	return quantity.Clip(name[strings.LastIndex(name, "/")+1:], 60)
}

// dotText quotes a text for graphviz, in which a backslash steers; lines are centred.
func dotText(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ReplaceAll(printable.Text(line), `\`, `\\`)
		lines = append(lines, strings.ReplaceAll(line, `"`, `\"`))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

// What of an SVG may stand in a page: shapes and texts, and how they look. Links,
// scripts, styles and whatever refers to something else are left out with all that is in
// them.
var (
	safeElements   = []string{"svg", "g", "text", "path", "polygon", "polyline", "ellipse"}
	safeAttributes = []string{
		"viewBox", "width", "height", "d", "points", "x", "y", "cx", "cy", "rx", "ry", "stroke", "stroke-width", "stroke-dasharray", "text-anchor", "transform",
	}
	// A text has these from a group around it: the page's style sheet, which sets those
	// of every text, would take precedence over the text's own.
	inherited = []string{"fill", "font-size", "font-family"}
)

// maxSVGDepth bounds the elements in each other.
const maxSVGDepth = 32

// safeSVG copies the parts of an SVG that can do nothing.
func safeSVG(svg []byte) (template.HTML, error) {
	s := svgCopy{in: xml.NewDecoder(bytes.NewReader(svg))}
	s.in.Entity = map[string]string{"nbsp": "\u00a0"} // as graphviz writes it
	for {
		token, err := s.in.Token()
		if err == nil {
			err = s.takeToken(token)
		}
		switch {
		case errors.Is(err, io.EOF) && s.out.Len() > 0:
			return template.HTML(s.out.String()), nil
		case errors.Is(err, io.EOF):
			return "", errors.New("parse SVG: no drawing")
		case err != nil:
			return "", fmt.Errorf("parse SVG: %w", err)
		}
	}
}

type svgCopy struct {
	in   *xml.Decoder
	out  strings.Builder
	open []string
}

func (s *svgCopy) takeToken(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		name := t.Name.Local
		if !slices.Contains(safeElements, name) || (len(s.open) == 0) != (name == "svg") || len(s.open) == maxSVGDepth {
			return s.in.Skip()
		}
		s.open = append(s.open, name)
		if name == "text" {
			s.tag("g", t.Attr, inherited)
			s.tag(name, t.Attr, safeAttributes)
		} else {
			s.tag(name, t.Attr, slices.Concat(safeAttributes, inherited))
		}
	case xml.EndElement:
		s.out.WriteString("</" + t.Name.Local + ">")
		if t.Name.Local == "text" {
			s.out.WriteString("</g>")
		}
		s.open = s.open[:len(s.open)-1]
	case xml.CharData:
		if len(s.open) > 0 && s.open[len(s.open)-1] == "text" {
			template.HTMLEscape(&s.out, t)
		}
	}
	return nil
}

func (s *svgCopy) tag(name string, of []xml.Attr, allowed []string) {
	s.out.WriteString("<" + name)
	for _, a := range of {
		if a.Name.Space == "" && slices.Contains(allowed, a.Name.Local) && !strings.Contains(strings.ToLower(a.Value), "url") {
			s.out.WriteString(" " + a.Name.Local + `="` + template.HTMLEscapeString(a.Value) + `"`)
		}
	}
	s.out.WriteString(">")
}
