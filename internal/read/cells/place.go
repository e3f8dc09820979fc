package cells

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// longestRig is the number of bytes of a rig that is named whole.
const longestRig = 40

// Place says where a run took place, and over which link: "loopback, 2 CPUs", "a link of
// 1 Gbit/s between two namespaces of one host", "rig ssh:node1,node2". It is "" where that is
// not known.
func Place(p Plan, facts record.Facts) string {
	kind := record.RigKind(facts.Rig)
	switch {
	case kind == "loopback":
		for _, host := range facts.Seats { // all of one machine
			if n := host.CPUs(); n > 0 {
				return "loopback, " + quantity.Plural(n, "CPU")
			}
		}
		return kind
	case kind == "netns":
		return namespaces(p, facts.Rig)
	case kind == "":
		return ""
	case len(facts.Rig) <= longestRig:
		return "rig " + facts.Rig
	}
	return "rig " + kind
}

// namespaces is the link between the namespaces of a rig "netns:3?mtu=9000", as far as the
// study holds it.
func namespaces(p Plan, rig string) string {
	_, rest, _ := strings.Cut(rig, ":")
	hosts, query, _ := strings.Cut(rest, "?")
	a, between := "a link", "two"
	if hosts != "2" {
		a, between = "links", hosts
	}
	var with []string
	for _, x := range []struct{ factor, none, words string }{
		{linkRate, unlimited, " of %s"}, {"link.delay", "0s", "%s of delay each way"}, {"link.loss", "0", "%s of loss"},
	} {
		switch level := p.Hold[x.factor]; {
		case level == "" || level == x.none:
		case x.factor == linkRate:
			a += fmt.Sprintf(x.words, quantity.WithSpace(level))
		default:
			with = append(with, fmt.Sprintf(x.words, quantity.WithSpace(level)))
		}
	}
	if query != "" {
		with = append(with, strings.Replace(query, "mtu=", "MTU ", 1))
	}
	text := fmt.Sprintf("%s between %s namespaces of one host", a, between)
	if len(with) > 0 {
		text += ", " + strings.Join(with, ", ")
	}
	return text
}
