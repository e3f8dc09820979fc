package source

import (
	"slices"
	"strconv"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const (
	maxParts     = 8
	maxClaimArms = 20
)

var (
	claimKeys  = []string{"title", "source", "under", "unmeasured", "parts"}
	partKeys   = []string{"metric", "is", "arms", "base", "than", "of", "margin", "where", "from"}
	claimKinds = []string{string(record.Same), string(record.Higher), string(record.Lower), string(record.Sized), string(record.Steadier)}
)

func readClaims(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Claims, err = views(tree, "claims", claimKeys, func(n *node) (record.Claim, error) { return readClaim(n, s, scope) })
	return err
}

func readClaim(n *node, s *study.Study, scope study.Scope) (record.Claim, error) {
	var c record.Claim
	texts := map[string]*string{"title": &c.Title, "source": &c.Source, "unmeasured": &c.Unmeasured}
	if err := n.texts("claim", texts, "title"); err != nil {
		return c, err
	}
	var err error
	if c.Under, err = readUnder(n, "", s); err != nil {
		return c, err
	}
	e := n.get("parts")
	switch {
	case c.Unmeasured != "" && e != nil:
		return c, e.at.errorf("parts: a claim that no arm can test has none; leave out parts, or unmeasured")
	case c.Unmeasured != "":
		return c, nil
	case e == nil:
		return c, n.at.errorf(`claim: the key "parts" is missing; expected it, or unmeasured: why no arm can test the claim`)
	}
	parts := e.value
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
	var is, margin, of string
	texts := map[string]*string{"metric": &p.Metric, "is": &is, "base": &p.Base, "margin": &margin, "of": &of}
	err := n.texts("claim", texts, "metric", "is", "arms", "base")
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
	if p.Of, err = readSize(n, p.Is, of, margin); err != nil {
		return p, err
	}
	if p.Arms, err = n.names("arms", maxClaimArms); err != nil {
		return p, err
	}
	if n.get("than") != nil {
		if p.Than, err = n.names("than", maxClaimArms); err != nil {
			return p, err
		}
	}
	if p.Where, err = n.levels("where"); err != nil {
		return p, err
	}
	p.From, err = n.levels("from")
	return p, err
}

// readSize reads the ratio that a part claims; 0 of a part of another form.
func readSize(n *node, is record.ClaimKind, of, margin string) (float64, error) {
	switch {
	case is != record.Sized && of == "":
		return 0, nil
	case is != record.Sized:
		return 0, n.positionOf("of").errorf("of: a claim that is %s has no size; expected is: %s", is, record.Sized)
	case of == "" || margin == "":
		return 0, n.positionOf("is").errorf("is: a claim of a ratio needs its size under of and how far it may be off under margin, such as 20%%")
	}
	ratio, err := strconv.ParseFloat(of, 64)
	if err != nil || !(ratio > 0 && ratio < 1e9) {
		return 0, n.positionOf("of").errorf("of: %q is not a ratio of arm to base; expected a number above 0", quantity.Clip(of, 40))
	}
	return ratio, nil
}
