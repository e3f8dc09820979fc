package source

import (
	"slices"
	"strconv"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

var partBlock = block[record.ClaimPart]{
	name:  "claim",
	start: record.ClaimPart{Margin: study.DefaultMargin},
	keys: []key[record.ClaimPart]{
		keyOf("metric", aMetric, func(p *record.ClaimPart) *string { return &p.Metric }, "metric of the claim; or profile, or fit"),
		keyOf("profile", aText, func(p *record.ClaimPart) *string { return &p.Profile }, "in place of a metric: an activity of a CPU profile, or a function with what it calls, whose share the claim is about"),
		keyOf("end", oneOf("end", "server", "client"), func(p *record.ClaimPart) *string { return &p.End }, "of a profile: whose"),
		keyOf("fit", aText, func(p *record.ClaimPart) *string { return &p.Fit }, "in place of a metric: the title of a fit of the study"),
		keyOf("term", aText, func(p *record.ClaimPart) *string { return &p.Term }, "of a fit: the factor whose coefficient the claim is about"),
		keyOf("is", oneOf("claim", record.Same, record.Higher, record.Lower, record.Sized, record.Steadier, record.Above, record.Below, record.Near),
			func(p *record.ClaimPart) *record.ClaimKind { return &p.Is }, "what the ratio of each of arms to base must be; above, below and near are about the figure itself").must(),
		keyOf("arms", someArms(0, maxSideArms), func(p *record.ClaimPart) *[]string { return &p.Arms }, "arms that are compared; all of a fit"),
		keyOf("base", aBase, func(p *record.ClaimPart) *string { return &p.Base }, "arm that they are divided by, or link, whose rate is declared"),
		keyOf("margin", aShare(some, float), func(p *record.ClaimPart) *float64 { return &p.Margin }, "difference that counts as none; 2% unless given"),
		keyOf("of", aSize, func(p *record.ClaimPart) *float64 { return &p.Of }, "of a claim that is ratio, above, below or near: the claimed size, such as 2.5, 25% or 10GB"),
		keyOf("than", someArms(0, maxSideArms), func(p *record.ClaimPart) *[]string { return &p.Than }, "of a claim that is steadier: the arms whose ratios vary more"),
		keyWhere(func(p *record.ClaimPart) *map[string]string { return &p.Where }),
		keyOf("base_where", oneLevelEach, func(p *record.ClaimPart) *map[string]string { return &p.BaseWhere }, "levels of the base, where it is measured in another cell"),
		keyOf("from", oneLevelEach, func(p *record.ClaimPart) *map[string]string { return &p.From }, "levels at which the ratio divides that at the levels of where"),
	},
	check:  checkPart,
	rule:   partRule,
	inline: true,
}

// aBase is an arm, or the link.
var aBase = known("an arm, or link", func(c study.Scope, name string) string {
	if name == record.TheLink {
		return ""
	}
	return c.Arm(name)
})

// aSize is a number above 0, a share or an amount of bytes.
var aSize = single("a number above 0, a share or bytes", func(text string) (float64, error) {
	if x, err := quantity.ParseShare(text); err == nil && x > 0 {
		return x, nil
	}
	if n, err := quantity.ParseBytes(text); err == nil && n > 0 {
		return float64(n), nil
	}
	return parseRatio(text)
}, func(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
})

// absolute tells whether a claim's part is about a figure and not about a ratio.
func absolute(is record.ClaimKind) bool {
	return is == record.Above || is == record.Below || is == record.Near
}

// checkPart checks which keys a part has beside each other.
func checkPart(n *node, p *record.ClaimPart, _ whole) error {
	about := 0
	for _, key := range []string{"metric", "profile", "fit"} {
		if n.entryOf(key) != nil {
			about++
		}
	}
	of, margin, base := n.entryOf("of"), n.entryOf("margin"), n.entryOf("base")
	sized := p.Is == record.Sized || absolute(p.Is)
	switch {
	case about != 1:
		return n.at.errorf("claim: found %d of the keys metric, profile and fit; expected one", about)
	case (p.Profile != "") != (p.End != ""):
		return n.at.errorf(`claim: profile and end go together; expected both, such as profile: garbage collection, end: client`)
	case (p.Fit != "") != (p.Term != ""):
		return n.at.errorf(`claim: fit and term go together; expected the title of a fit and one of its terms`)
	case p.Fit == "" && len(p.Arms) == 0:
		return n.at.errorf(`claim: the key "arms" is missing`)
	case p.Fit != "" && !absolute(p.Is):
		return n.value("is").at.errorf("is: a coefficient is above, below or near a size, and not %s", p.Is)
	case p.Profile != "" && !slices.Contains([]record.ClaimKind{record.Above, record.Below, record.Higher, record.Lower}, p.Is):
		return n.value("is").at.errorf("is: a share of a profile is above, below, higher or lower, and not %s", p.Is)
	case absolute(p.Is) && base != nil:
		return base.at.errorf("base: a claim that is %s is about the figure itself; leave base out", p.Is)
	case !absolute(p.Is) && base == nil && !(p.Profile != "" && n.entryOf("from") != nil):
		return n.at.errorf(`claim: the key "base" is missing`)
	case !sized && of != nil:
		return of.value.at.errorf("of: a claim that is %s has no size; expected is: %s", p.Is, record.Sized)
	case p.Is == record.Sized && (of == nil || margin == nil):
		return n.value("is").at.errorf("is: a claim of a ratio needs its size under of and how far it may be off under margin, such as 20%%")
	case sized && of == nil:
		return n.value("is").at.errorf("is: a claim that is %s needs its size under of, such as 10GB or 25%%", p.Is)
	}
	return nil
}

// partRule is what the complete study must have of a part's arms, cells and fits.
func partRule(c study.Scope, p record.ClaimPart) (key, text string) {
	if p.Fit != "" {
		return c.Where(p.Where, p.Arms)
	}
	arms := slices.Concat(p.Arms, p.Than)
	switch {
	case slices.Contains(p.Arms, p.Base) || slices.Contains(p.Than, p.Base):
		if len(p.BaseWhere) == 0 {
			return "base", p.Base + " is divided by itself"
		}
	case p.Base == record.TheLink && (p.Metric != metric.Goodput || len(p.From) > 0 || p.Is == record.Steadier):
		return "base", "the link has a rate and nothing else; it can be the base of " + metric.Goodput + " alone, without from"
	case (p.Is == record.Steadier) != (len(p.Than) > 0):
		return "is", "a claim that is steadier needs the arms under than, and no other claim takes them"
	case p.Is == record.Steadier && len(p.From) > 0:
		return "from", "a claim that is steadier compares cells already; leave from out"
	case len(p.BaseWhere) > 0 && (len(p.From) > 0 || p.Is == record.Steadier || p.Profile != "" || p.Base == record.TheLink):
		return "base_where", "a base in another cell is for plain ratios of a metric alone"
	}
	if p.Base != "" && p.Base != record.TheLink {
		if len(p.BaseWhere) > 0 {
			if _, text := c.Where(p.BaseWhere, []string{p.Base}); text != "" {
				return "base_where", text
			}
		} else {
			arms = append(arms, p.Base)
		}
	}
	if _, text := c.Where(p.From, arms); text != "" && len(p.From) > 0 {
		return "from", text
	}
	return c.Where(p.Where, arms)
}
