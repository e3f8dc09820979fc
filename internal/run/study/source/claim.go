package source

import (
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
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

func readClaims(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Claims, err = views(tree, "claims", claimKeys, func(n *node) (record.Claim, error) { return readClaim(n, scope) })
	return err
}

func readClaim(n *node, scope study.Scope) (record.Claim, error) {
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
		if err == nil {
			err = item.problem(scope.ClaimPart(p))
		}
		if err != nil {
			return c, err
		}
		c.Parts = append(c.Parts, p)
	}
	return c, nil
}

func readPart(n *node) (record.ClaimPart, error) {
	p := record.ClaimPart{Margin: study.DefaultMargin}
	var is, margin string
	err := n.texts("claim", map[string]*string{"metric": &p.Metric, "is": &is, "base": &p.Base, "margin": &margin}, "metric", "is", "arms", "base")
	if err != nil {
		return p, err
	}
	if p.Is = record.ClaimKind(is); !slices.Contains(claimKinds, is) {
		return p, n.positionOf("is").errorf("is: unknown claim %q; %s", quantity.Clip(is, 80), quantity.Hint(is, claimKinds))
	}
	if margin != "" {
		if p.Margin, err = quantity.ParseShare(margin); err != nil || !(p.Margin > 0) {
			return p, n.positionOf("margin").errorf("margin: %q is not a share above 0; expected one such as 5%%", quantity.Clip(margin, 40))
		}
	}
	if p.Arms, err = n.names("arms", maxClaimArms); err != nil {
		return p, err
	}
	if n.get("than") != nil {
		if p.Than, err = n.names("than", maxClaimArms); err != nil {
			return p, err
		}
	}
	p.Where, err = n.where()
	return p, err
}
