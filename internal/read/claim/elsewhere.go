package claim

import (
	"fmt"
	"strings"

	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// elsewhere says where a claim that cannot be tested here can be, and by which command; ""
// where the study has no arm for it.
func (c *Claim) elsewhere(study string) string {
	switch {
	case c.Spec.Unmeasured != "":
		return ""
	case len(c.Unmet) > 0:
		under := map[string]string{}
		for _, u := range c.Unmet {
			under[u.Condition] = u.Published
		}
		return record.WhereTested(study, under)
	case strings.Contains(c.Reason, compare.OthersTurnRatios):
		return "on a quiet machine: netdyno run " + study
	}
	if len(c.Spec.Under) == 0 {
		return fmt.Sprintf("where its arms can run: netdyno run %s, here or with --rig ssh:HOST,HOST", study)
	}
	return "where its arms can run, " + record.WhereTested(study, c.Spec.Under)
}
