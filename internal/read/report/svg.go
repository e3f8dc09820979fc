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
)

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
