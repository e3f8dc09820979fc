package record

import (
	"maps"
	"slices"
	"strings"

	"netdyno/internal/quantity"
)

// places are how conditions that a run does not choose by a level are met: in words, and
// as the rig that has them. The first that is not met names the rig.
var places = []struct {
	condition string
	meets     func(level string) bool // nil for every level
	words     string                  // with the level in place of %s
	rig       string
}{
	{ConditionHosts, func(level string) bool { return level != "1" }, "on two hosts", "ssh:HOST,HOST"},
	{"link.rate", nil, "a link of %s", "ssh:HOST,HOST"},
	{ConditionLimit, func(level string) bool { return level == "link" }, "where the link is the limit", "'netns:2?rate=1Gbit'"},
	{ConditionHosts, nil, "on one host", "loopback"},
	{ConditionLimit, nil, "where the limit is %s", ""},
	{ConditionRig, nil, "on rig %s", "%s"},
}

// WhereTested says where a claim of a study can be tested, and by which command: "on two hosts:
// netdyno run blocks --rig ssh:HOST,HOST". The conditions are those that must be met, the
// needs what its arms need of the hosts: "RDMA devices".
func WhereTested(study string, under map[string]string) string {
	var words, with, levels []string
	rig := ""
	placed := map[string]bool{}
	for _, p := range places {
		level, stated := under[p.condition]
		if !stated || placed[p.condition] || p.meets != nil && !p.meets(level) {
			continue
		}
		placed[p.condition] = true
		if said := strings.ReplaceAll(p.words, "%s", level); p.condition == "link.rate" {
			with = append(with, said)
		} else {
			words = append(words, said)
		}
		if rig == "" {
			rig = strings.ReplaceAll(p.rig, "%s", level)
		}
	}
	for _, factor := range slices.Sorted(maps.Keys(under)) {
		if !placed[factor] {
			levels = append(levels, factor+"="+under[factor])
		}
	}
	if len(with) > 0 {
		words = append(words, "with "+quantity.And(with))
	}
	command := strings.Join(append([]string{"netdyno run", study}, levels...), " ")
	if rig != "" {
		command += " --rig " + rig
	}
	if len(words) == 0 {
		return command
	}
	return strings.Join(words, " ") + ": " + command
}
