package source

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

func writePublished(b *bytes.Buffer, p record.Published) {
	ratio := strconv.FormatFloat(p.Ratio, 'g', -1, 64)
	writeItem(b, [][2]string{
		{"source", p.Source}, {"metric", p.Metric}, {"arm", p.Arm}, {"base", p.Base}, {"ratio", ratio}, {"unmeasured", p.Unmeasured}, {"note", p.Note},
	})
	writeLevelsOf(b, "under", p.Under)
	writeLevelsOf(b, "shape", p.Shape)
}

// writeItem writes a list's item with those of its fields that are not empty.
func writeItem(b *bytes.Buffer, fields [][2]string) {
	mark := "- "
	for _, field := range fields {
		if field[1] != "" {
			fmt.Fprintf(b, "  %s%s: %s\n", mark, field[0], quote(field[1]))
			mark = "  "
		}
	}
}

// writeViews writes the charts, the fits, the searches, the choices and the
// replacements.
func writeViews(b *bytes.Buffer, s *study.Study) {
	if len(s.Charts) > 0 {
		b.WriteString("charts:\n")
	}
	for _, c := range s.Charts {
		writeItem(b, [][2]string{
			{"title", c.Title}, {"kind", string(c.Kind)}, {"metric", c.Metric}, {"x", c.X}, {"y", c.Y}, {"by", c.By}, {"against", c.Against},
		})
		writeWhere(b, c.Where)
		writeList(b, "arms", c.Arms)
	}
	if len(s.Fits) > 0 {
		b.WriteString("fits:\n")
	}
	for _, f := range s.Fits {
		writeItem(b, [][2]string{{"title", f.Title}, {"metric", f.Metric}, {"per", f.Per}, {"source", f.Source}})
		writeList(b, "terms", f.Terms)
		writeWhere(b, f.Where)
		var published []string
		for _, x := range f.Published {
			published = append(published, strconv.FormatFloat(x, 'g', -1, 64))
		}
		writeList(b, "published", published)
	}
	if len(s.Reaches) > 0 {
		b.WriteString("reaches:\n")
	}
	for _, r := range s.Reaches {
		writeItem(b, [][2]string{{"title", r.Title}, {"metric", r.Metric}, {"share", strconv.FormatFloat(r.Share, 'g', -1, 64)}})
		writeList(b, "least", r.Least)
		writeWhere(b, r.Where)
	}
	if len(s.Choices) > 0 {
		b.WriteString("choose:\n")
	}
	for _, c := range s.Choices {
		writeItem(b, [][2]string{{"title", c.Title}, {"best", c.Best}})
		b.WriteString("    within:\n")
		for _, bound := range c.Within {
			fmt.Fprintf(b, "      %s: %s\n", bound.Metric, quote(bound.Text))
		}
		writeWhere(b, c.Where)
	}
	if len(s.Pays) > 0 {
		b.WriteString("pays:\n")
	}
	for _, p := range s.Pays {
		writeItem(b, [][2]string{{"title", p.Title}})
		writeList(b, "arms", p.Arms)
		writeList(b, "instead_of", p.InsteadOf)
		writeWhere(b, p.Where)
	}
}

func writeCosts(b *bytes.Buffer, s *study.Study) {
	for i, c := range s.Costs {
		if i == 0 {
			b.WriteString("costs:\n")
		}
		writeItem(b, [][2]string{{"title", c.Title}, {"metric", c.Metric}, {"per", c.Per}})
		writeList(b, "terms", c.Terms)
		for k, factor := range slices.Sorted(maps.Keys(c.Holdout)) {
			if k == 0 {
				b.WriteString("    holdout:\n")
			}
			fmt.Fprintf(b, "      %s: [%s]\n", factor, flowList(c.Holdout[factor]))
		}
		writeWhere(b, c.Where)
	}
}

func writeWhere(b *bytes.Buffer, where map[string]string) { writeLevelsOf(b, "where", where) }

// writeLevelsOf writes one level of each factor under a key of an item.
func writeLevelsOf(b *bytes.Buffer, key string, levels map[string]string) {
	for i, factor := range slices.Sorted(maps.Keys(levels)) {
		if i == 0 {
			fmt.Fprintf(b, "    %s:\n", key)
		}
		fmt.Fprintf(b, "      %s: %s\n", factor, quote(levels[factor]))
	}
}

func writeList(b *bytes.Buffer, key string, items []string) {
	for i, item := range items {
		if i == 0 {
			fmt.Fprintf(b, "    %s:\n", key)
		}
		fmt.Fprintf(b, "      - %s\n", quote(item))
	}
}

func writeClaims(b *bytes.Buffer, s *study.Study) {
	for i, c := range s.Claims {
		if i == 0 {
			b.WriteString("claims:\n")
		}
		writeItem(b, [][2]string{{"title", c.Title}, {"source", c.Source}, {"unmeasured", c.Unmeasured}})
		writeLevelsOf(b, "under", c.Under)
		if len(c.Parts) > 0 {
			b.WriteString("    parts:\n")
		}
		for _, p := range c.Parts {
			writePart(b, p)
		}
	}
}

func writePart(b *bytes.Buffer, p record.ClaimPart) {
	fmt.Fprintf(b, "      - {metric: %s, is: %s, arms: [%s], base: %s, margin: %s", quote(p.Metric), quote(string(p.Is)),
		flowList(p.Arms), quote(p.Base), strconv.FormatFloat(p.Margin, 'g', -1, 64))
	if p.Of > 0 {
		fmt.Fprintf(b, ", of: %s", strconv.FormatFloat(p.Of, 'g', -1, 64))
	}
	if len(p.Than) > 0 {
		fmt.Fprintf(b, ", than: [%s]", flowList(p.Than))
	}
	writeFlowLevels(b, "where", p.Where)
	writeFlowLevels(b, "from", p.From)
	b.WriteString("}\n")
}

// writeFlowLevels writes one level of each factor in a part's braces; nothing
// when there is none.
func writeFlowLevels(b *bytes.Buffer, key string, levels map[string]string) {
	if len(levels) == 0 {
		return
	}
	var parts []string
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		parts = append(parts, factor+": "+quote(levels[factor]))
	}
	fmt.Fprintf(b, ", %s: {%s}", key, strings.Join(parts, ", "))
}

func writeLadders(b *bytes.Buffer, s *study.Study) {
	for i, l := range s.Ladders {
		if i == 0 {
			b.WriteString("ladder:\n")
		}
		mark := "- "
		if l.Title != "" {
			writeItem(b, [][2]string{{"title", l.Title}})
			mark = "  "
		}
		fmt.Fprintf(b, "  %sarms: [%s]\n", mark, flowList(l.Arms))
		if titles := l.Titles(); titles != nil {
			fmt.Fprintf(b, "    steps: [%s]\n", flowList(titles))
		}
	}
}

func flowList(items []string) string {
	var b bytes.Buffer
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(item))
	}
	return b.String()
}

func writeRequires(b *bytes.Buffer, s *study.Study) {
	for i, r := range s.Requires {
		if i == 0 {
			b.WriteString("require:\n")
		}
		fmt.Fprintf(b, "  - %s\n", quote(r.Text))
	}
}
