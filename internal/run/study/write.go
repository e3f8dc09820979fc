package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// YAML writes the study as a file that ParseFile reads back to the same plan:
// what was run, after every override. Levels that the study left to their
// defaults stay unwritten.
func (s *Study) YAML() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "study: %s\n", quote(s.Name))
	if s.Question != "" {
		fmt.Fprintf(&b, "question: %s\n", quote(s.Question))
	}
	if len(s.Hold) > 0 {
		fmt.Fprintf(&b, "hold: {%s}\n", flow(s.Hold))
	}
	s.writeVary(&b)
	for i, w := range s.Sweeps {
		if i == 0 {
			b.WriteString("sweeps:\n")
		}
		w.write(&b)
	}
	s.writeCompare(&b)
	fmt.Fprintf(&b, "%s\nseed: %d\n", s.blocksText(), s.Seed)
	if s.Probes > 0 {
		fmt.Fprintf(&b, "probes: %d\n", s.Probes)
	}
	if len(s.Published) > 0 {
		b.WriteString("published:\n")
	}
	for _, p := range s.Published {
		writePublished(&b, p)
	}
	s.writeViews(&b)
	s.writeClaims(&b)
	s.writeRequires(&b)
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("write study %s: %d bytes; a study file has at most %d", s.Name, b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

func (s *Study) writeVary(b *bytes.Buffer) {
	if len(s.Vary) > 0 {
		b.WriteString("vary:\n")
	}
	for _, v := range s.Vary {
		if v.Factor != armFactor {
			writeLevels(b, "  ", v)
			continue
		}
		b.WriteString("  arm:\n")
		for _, a := range s.Arms {
			fmt.Fprintf(b, "    %s: {%s}\n", quote(a.Name), flow(a.Settings))
		}
	}
}

func (w *Sweep) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "  - name: %s\n", quote(w.Name))
	if len(w.Hold) > 0 {
		fmt.Fprintf(b, "    hold: {%s}\n", flow(w.Hold))
	}
	if len(w.Vary) > 0 {
		b.WriteString("    vary:\n")
	}
	for _, v := range w.Vary {
		writeLevels(b, "      ", v)
	}
}

func writeLevels(b *bytes.Buffer, indent string, v Varied) {
	fmt.Fprintf(b, "%s%s:\n", indent, v.Factor)
	for _, l := range v.Levels {
		fmt.Fprintf(b, "%s  - %s\n", indent, quote(l.Text))
	}
}

func (s *Study) writeCompare(b *bytes.Buffer) {
	b.WriteString("compare:\n")
	if s.varied(s.Compare.Factor) != nil {
		fmt.Fprintf(b, "  factor: %s\n", s.Compare.Factor)
	}
	fmt.Fprintf(b, "  baseline: %s\n  margin: %s\n  primary:\n", quote(s.Compare.Baseline), quantity.ShareText(s.Compare.Margin))
	for _, m := range s.Compare.Primary {
		fmt.Fprintf(b, "    - %s\n", quote(m))
	}
	s.writeAlso(b)
}

func writePublished(b *bytes.Buffer, p record.Published) {
	ratio := strconv.FormatFloat(p.Ratio, 'g', -1, 64)
	writeItem(b, [][2]string{
		{"source", p.Source}, {"metric", p.Metric}, {"arm", p.Arm}, {"base", p.Base}, {"ratio", ratio}, {"unmeasured", p.Unmeasured}, {"note", p.Note},
	})
	writeLevelsOf(b, "under", p.Under)
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

// writeViews writes the charts, the fits and the searches.
func (s *Study) writeViews(b *bytes.Buffer) {
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
}

func writeWhere(b *bytes.Buffer, where map[string]string) { writeLevelsOf(b, "where", where) }

// writeLevelsOf writes one level of each factor under a key of an item.
func writeLevelsOf(b *bytes.Buffer, key string, levels map[string]string) {
	for i, factor := range sortedKeys(levels) {
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

// flow writes settings one after the other, for use between braces. Lines
// stay below input.MaxYAMLLine as long as levels do.
func flow(settings []Setting) string {
	parts := make([]string, len(settings))
	for i, x := range settings {
		parts[i] = x.Factor + ": " + quote(x.Level.Text)
	}
	return strings.Join(parts, ", ")
}

var plainScalar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+%-]*$`)

// yamlWord matches the plain scalars that some YAML reader takes for no text;
// numbers are left plain, as levels are read as they are written.
var yamlWord = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)

// quote writes a text so that it reads back as itself: plain where YAML takes
// it as it stands, else in double quotes, whose escapes are JSON's.
func quote(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
