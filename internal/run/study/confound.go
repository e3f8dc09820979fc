package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// confoundedArms warns of arms that differ from the baseline in more than one factor and
// are not reached from the baseline by steps of one factor over other arms: such an arm's
// difference cannot be laid to one factor. Baseline a=1 b=1 and arm a=2 b=2 are
// confounded unless an arm a=2 b=1 or a=1 b=2 stands between them. An arm of a server that
// runs already is what its URL says, whatever factors that takes.
func confoundedArms(arms []Arm, baseline string) []record.Warning {
	var base map[string]string
	for _, a := range arms {
		if a.Name == baseline {
			base = a.treatment()
		}
	}
	reached := reachable(arms, baseline)
	var out []record.Warning
	for _, a := range arms {
		treatment := a.treatment()
		if d := differing(treatment, base); len(d) > 1 && !reached[a.Name] && treatment[OptionPrefix+"server.address"] == "" {
			out = append(out, record.Warning{
				About:  "confounded: arm " + a.Name,
				Text:   fmt.Sprintf("arm %s differs from the baseline %s in %d factors: %s", a.Name, baseline, len(d), strings.Join(d, ", ")),
				Advice: "read the comparison as one of bundles, or add arms that change one factor at a time",
			})
		}
	}
	return out
}

// reachable names the arms that a chain of arms joins to the baseline, each of
// which differs from the one before in at most one factor.
func reachable(arms []Arm, baseline string) map[string]bool {
	reached := map[string]bool{baseline: true}
	for grown := true; grown; {
		grown = false
		for _, from := range arms {
			for _, to := range arms {
				if reached[from.Name] && !reached[to.Name] && len(differing(from.treatment(), to.treatment())) <= 1 {
					reached[to.Name], grown = true, true
				}
			}
		}
	}
	return reached
}

// treatment returns the arm's levels by factor, with both ends of a transport.
// Defaults are not filled in.
func (a Arm) treatment() map[string]string {
	levels := map[string]string{}
	for _, x := range a.Settings {
		if x.Factor == "transport" {
			levels["server"], levels["client"] = x.Level.Text, x.Level.Text
			continue
		}
		levels[x.Factor] = x.Level.Text
	}
	return levels
}

// differing lists the factors in which two arms differ. An option that only
// one of two arms with different transports sets is part of its transport,
// not a second factor: the other transport has no such option to equal. So is
// the size of a stream's chunks part of the stream.
func differing(a, b map[string]string) []string {
	otherTransport := a["server"] != b["server"] || a["client"] != b["client"]
	var out []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, f := range sortedKeys(all) {
		_, setA := a[f]
		_, setB := b[f]
		nested := strings.HasPrefix(f, OptionPrefix) && otherTransport && setA != setB ||
			f == "chunk" && a["stream"] != b["stream"]
		if levelOr(a, f) != levelOr(b, f) && !nested {
			out = append(out, f)
		}
	}
	if otherTransport && a["server"] == a["client"] && b["server"] == b["client"] { // one factor, transport
		out = append(slices.DeleteFunc(out, func(f string) bool { return f == "server" || f == "client" }), "transport")
		slices.Sort(out)
	}
	return out
}

// levelOr returns a factor's level or its default.
func levelOr(levels map[string]string, factor string) string {
	if l, ok := levels[factor]; ok {
		return l
	}
	if f, err := FactorNamed(factor); err == nil {
		return f.Default
	}
	return ""
}
