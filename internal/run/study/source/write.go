package source

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// YAML writes a study as a file that ParseFile reads back to the same plan:
// what was run, after every override. Levels that the study left to their
// defaults stay unwritten.
func YAML(s *study.Study) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "study: %s\n", quote(s.Name))
	if s.Question != "" {
		fmt.Fprintf(&b, "question: %s\n", quote(s.Question))
	}
	if len(s.Hold) > 0 {
		fmt.Fprintf(&b, "hold: {%s}\n", flow(s.Hold))
	}
	writeVary(&b, s)
	for i, w := range s.Sweeps {
		if i == 0 {
			b.WriteString("sweeps:\n")
		}
		writeSweep(&b, w)
	}
	writeCompare(&b, s)
	fmt.Fprintf(&b, "%s\nseed: %d\n", blocksText(s), s.Seed)
	if s.Mesh {
		b.WriteString("mesh: yes\n")
	}
	if s.Settle > 0 {
		bound := ""
		if s.SettleS > 0 {
			bound = "/" + quantity.DurationText(time.Duration(s.SettleS*float64(time.Second)))
		}
		fmt.Fprintf(&b, "settle: %s%s\n", quantity.ShareText(s.Settle), bound)
	}
	writeRace(&b, s.Race)
	writeCapacity(&b, s)
	if s.Probes > 0 {
		fmt.Fprintf(&b, "probes: %d\n", s.Probes)
	}
	if len(s.Published) > 0 {
		b.WriteString("published:\n")
	}
	for _, p := range s.Published {
		writePublished(&b, p)
	}
	writeViews(&b, s)
	writeCosts(&b, s)
	writeClaims(&b, s)
	writeLadders(&b, s)
	writeRequires(&b, s)
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("write study %s: %d bytes; a study file has at most %d", s.Name, b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

func writeVary(b *bytes.Buffer, s *study.Study) {
	if len(s.Vary) > 0 {
		b.WriteString("vary:\n")
	}
	for _, v := range s.Vary {
		if v.Factor != study.ArmFactor {
			writeLevels(b, "  ", v)
			continue
		}
		b.WriteString("  arm:\n")
		for _, a := range s.Arms {
			fmt.Fprintf(b, "    %s: {%s}\n", quote(a.Name), flow(a.Settings))
		}
	}
}

func writeSweep(b *bytes.Buffer, w study.Sweep) {
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

func writeLevels(b *bytes.Buffer, indent string, v study.Varied) {
	fmt.Fprintf(b, "%s%s:\n", indent, v.Factor)
	for _, l := range v.Levels {
		fmt.Fprintf(b, "%s  - %s\n", indent, quote(l.Text))
	}
}

func writeCompare(b *bytes.Buffer, s *study.Study) {
	b.WriteString("compare:\n")
	if s.Varies(s.Compare.Factor) {
		fmt.Fprintf(b, "  factor: %s\n", s.Compare.Factor)
	}
	fmt.Fprintf(b, "  baseline: %s\n  margin: %s\n  primary:\n", quote(s.Compare.Baseline), quantity.ShareText(s.Compare.Margin))
	for _, m := range s.Compare.Primary {
		fmt.Fprintf(b, "    - %s\n", quote(m))
	}
	writeAlso(b, s)
}

// flow writes settings one after the other, for use between braces. Lines
// stay below input.MaxYAMLLine as long as levels do.
func flow(settings []study.Setting) string {
	parts := make([]string, len(settings))
	for i, x := range settings {
		parts[i] = x.Factor + ": " + quote(x.Level.Text)
	}
	return strings.Join(parts, ", ")
}

func writeAlso(b *bytes.Buffer, s *study.Study) {
	for i, p := range s.Compare.Also {
		if i == 0 {
			b.WriteString("  also:\n")
		}
		fmt.Fprintf(b, "    - {arm: %s, base: %s}\n", quote(p.Arm), quote(p.Base))
	}
}
