package study

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

const (
	maxParts     = 8
	maxClaimArms = 20
)

var (
	claimKeys  = []string{"title", "source", "parts"}
	partKeys   = []string{"metric", "is", "arms", "base", "than", "margin", "where"}
	claimKinds = []string{string(record.Same), string(record.Higher), string(record.Lower), string(record.Steadier)}
)

func (s *Study) readClaims(tree *node) (err error) {
	s.Claims, err = views(tree, "claims", claimKeys, s.readClaim)
	return err
}

func (s *Study) readClaim(n *node) (record.Claim, error) {
	var c record.Claim
	if err := n.texts("claim", map[string]*string{"title": &c.Title, "source": &c.Source}, "title", "parts"); err != nil {
		return c, err
	}
	parts := n.get("parts").value
	if parts.kind != list || len(parts.items) == 0 || len(parts.items) > maxParts {
		return c, parts.at.errorf("parts: found %s; expected a list of 1 to %d, each with metric, is, arms, base", counted(parts), maxParts)
	}
	for _, item := range parts.items {
		if err := item.mappingOf(partKeys); err != nil {
			return c, err
		}
		p, err := readPart(item)
		if err != nil {
			return c, err
		}
		if key, text := s.partProblem(p); text != "" {
			return c, item.placeOf(key).errorf("%s: %s", key, text)
		}
		c.Parts = append(c.Parts, p)
	}
	return c, nil
}

func readPart(n *node) (record.ClaimPart, error) {
	p := record.ClaimPart{Margin: defaultMargin}
	var is, margin string
	err := n.texts("claim", map[string]*string{"metric": &p.Metric, "is": &is, "base": &p.Base, "margin": &margin}, "metric", "is", "arms", "base")
	if err != nil {
		return p, err
	}
	if p.Is = record.ClaimKind(is); !slices.Contains(claimKinds, is) {
		return p, n.placeOf("is").errorf("is: %s", unknown("claim", is, claimKinds))
	}
	if margin != "" {
		if p.Margin, err = quantity.ParseShare(margin); err != nil || !(p.Margin > 0) {
			return p, n.placeOf("margin").errorf("margin: %q is not a share above 0; expected one such as 5%%", clip(margin, 40))
		}
	}
	if p.Arms, err = n.factors("arms", maxClaimArms); err != nil {
		return p, err
	}
	if n.get("than") != nil {
		if p.Than, err = n.factors("than", maxClaimArms); err != nil {
			return p, err
		}
	}
	p.Where, err = n.where()
	return p, err
}

// partProblem says which key of a claim's part asks for what the study does not
// have, and why; both are "" for a sound one.
func (s *Study) partProblem(p record.ClaimPart) (key, text string) {
	if !slices.Contains(metricNames(), p.Metric) {
		return "metric", unknown("metric", p.Metric, metricNames())
	}
	arms := factorOf(s.compared()).Levels
	for _, named := range []struct {
		key   string
		names []string
	}{{"arms", p.Arms}, {"base", []string{p.Base}}, {"than", p.Than}} {
		for _, name := range named.names {
			if !slices.Contains(arms, name) {
				return named.key, unknown("level of "+s.Compare.Factor, name, arms)
			}
		}
	}
	switch {
	case slices.Contains(p.Arms, p.Base) || slices.Contains(p.Than, p.Base):
		return "base", p.Base + " is divided by itself"
	case (p.Is == record.Steadier) != (len(p.Than) > 0):
		return "is", "steadier, and it alone, needs the arms under than"
	}
	return s.whereProblem(p.Where, append(slices.Concat(p.Arms, p.Than), p.Base))
}

// keepClaims takes over those claims of the original study of which this one
// has every part.
func (s *Study) keepClaims(original *Study) {
	s.Claims = sound(original.Claims, func(c record.Claim) (key, text string) {
		for _, p := range c.Parts {
			if key, text := s.partProblem(p); text != "" {
				return key, text
			}
		}
		return "", ""
	})
}

func (s *Study) writeClaims(b *bytes.Buffer) {
	for i, c := range s.Claims {
		if i == 0 {
			b.WriteString("claims:\n")
		}
		writeItem(b, [][2]string{{"title", c.Title}, {"source", c.Source}})
		b.WriteString("    parts:\n")
		for _, p := range c.Parts {
			fmt.Fprintf(b, "      - {metric: %s, is: %s, arms: [%s], base: %s, margin: %s", quote(p.Metric), quote(string(p.Is)),
				flowList(p.Arms), quote(p.Base), strconv.FormatFloat(p.Margin, 'g', -1, 64))
			if len(p.Than) > 0 {
				fmt.Fprintf(b, ", than: [%s]", flowList(p.Than))
			}
			for k, factor := range sortedKeys(p.Where) {
				fmt.Fprintf(b, "%s%s: %s", []string{", where: {", ", "}[min(k, 1)], factor, quote(p.Where[factor]))
			}
			if len(p.Where) > 0 {
				b.WriteString("}")
			}
			b.WriteString("}\n")
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
