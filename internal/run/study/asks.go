package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Require says what a requirement names that no trial has; "" for a sound one.
func (c Scope) Require(r record.Require) string {
	named := []string{r.Arm}
	if r.Base != "" {
		named = append(named, r.Base)
	}
	for _, arm := range named {
		if text := c.noLevel(arm); text != "" {
			return text
		}
	}
	if strings.HasPrefix(r.Metric, ResponsePrefix) && !c.Open() {
		return OpenLoopOnly(r.Metric)
	}
	if r.Arm == r.Base {
		return fmt.Sprintf("%s is compared with itself; expected another arm, or a bound in the metric's unit", r.Arm)
	}
	if key, text := c.Where(r.Where, named); text != "" {
		return key + ": " + text
	}
	return ""
}

// OpenLoopOnly says why a closed loop has no such metric.
func OpenLoopOnly(metric string) string {
	return metric + " exists in an open loop only, and no trial has a rate; name service_… or set rate"
}

// noLevel says that the compared factor has no such level; "" when it has.
func (c Scope) noLevel(arm string) string {
	if slices.Contains(c.arms, arm) {
		return ""
	}
	return fmt.Sprintf("%s has no level %q; %s", c.compared, quantity.Clip(arm, 80), quantity.Hint(arm, c.arms))
}

// Published checks the arms of a published figure, which must be
// the study's unless the figure says why one is missing: see Scope.
func (c Scope) Published(p record.Published) (key, text string) {
	arm, base := c.noLevel(p.Arm), c.noLevel(p.Base)
	switch {
	case p.Unmeasured != "" && arm == "" && base == "":
		return "unmeasured", fmt.Sprintf("the study has the arms %s and %s; leave the key out, or name the arm that it lacks", p.Arm, p.Base)
	case p.Unmeasured != "":
		return "", ""
	case arm != "":
		return "arm", arm
	case base != "":
		return "base", base
	}
	if _, text := c.Where(p.Shape, []string{p.Arm, p.Base}); text != "" {
		return "shape", text
	}
	return "", ""
}
