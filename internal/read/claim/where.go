package claim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// places are how conditions that a run does not choose by a level are met: in words, and
// as the rig that has them. The first that is not met names the rig.
var places = []struct {
	condition string
	meets     func(level string) bool // nil for every level
	words     string                  // with the level in place of %s
	rig       string
}{
	{record.ConditionHosts, func(level string) bool { return level != "1" }, "on two hosts", "ssh:HOST,HOST"},
	{"link.rate", nil, "with a link of %s", "ssh:HOST,HOST"},
	{record.ConditionLimit, func(level string) bool { return level == "link" }, "where the link is the limit", "'netns:2?rate=1Gbit'"},
	{record.ConditionHosts, nil, "on one host", "loopback"},
	{record.ConditionLimit, nil, "where the limit is %s", ""},
	{record.ConditionRig, nil, "on rig %s", "%s"},
}

// Where says where a claim of a study can be tested, and by which command: "on two hosts:
// netdyno run blocks --rig ssh:HOST,HOST". The conditions are those that must be met.
func Where(study string, under map[string]string) string {
	var words, levels []string
	rig := ""
	placed := map[string]bool{}
	for _, p := range places {
		level, stated := under[p.condition]
		if !stated || placed[p.condition] || p.meets != nil && !p.meets(level) {
			continue
		}
		placed[p.condition] = true
		words = append(words, strings.ReplaceAll(p.words, "%s", level))
		if rig == "" {
			rig = strings.ReplaceAll(p.rig, "%s", level)
		}
	}
	for _, factor := range slices.Sorted(maps.Keys(under)) {
		if !placed[factor] {
			levels = append(levels, factor+"="+under[factor])
		}
	}
	command := part.Joined(" ", "netdyno run", study, strings.Join(levels, " "))
	if rig != "" {
		command += " --rig " + rig
	}
	return part.Joined(": ", strings.Join(words, " "), command)
}

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
		return Where(study, under)
	case strings.Contains(c.Reason, compare.OthersTurnRatios):
		return "on a quiet machine: netdyno run " + study
	}
	if len(c.Spec.Under) == 0 {
		return fmt.Sprintf("where its arms can run: netdyno run %s, here or with --rig ssh:HOST,HOST", study)
	}
	return "where its arms can run, " + Where(study, c.Spec.Under)
}
