package mesh

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// unseen is what could have hidden in a mesh, put into words.
type unseen struct {
	told, untold []string // metrics in which hosts are as good as each other, and the others with what could hide
	most         float64  // of those told
	ways         []string // of a single way, what could hide
	mostOfWays   float64
}

func unseenIn(m *Mesh) unseen {
	u := unseen{most: 1, mostOfWays: 1}
	for _, h := range m.Hidden {
		what := hiddenIn(m, h.Metric)
		if m.AsGood(h.Hosts) {
			u.told, u.most = append(u.told, what), max(u.most, h.Hosts)
		} else {
			u.untold = append(u.untold, apartText(h.Hosts)+" in "+what)
		}
		switch of := h.Metric == Goodput || h.Metric == m.Latency; {
		case of && m.AsGood(h.Ways):
			u.mostOfWays = max(u.mostOfWays, h.Ways)
		case of:
			u.ways = append(u.ways, apartText(h.Ways)+" in "+what)
		}
	}
	return u
}

// asGoodSentences say in what all hosts are as good as each other, and what of that
// cannot be told.
func asGoodSentences(m *Mesh) []string {
	u, who := unseenIn(m), fmt.Sprintf("all %d hosts", len(m.Hosts))
	narrow := "more blocks or a longer window narrow that"
	var all []string
	switch {
	case len(u.told) == 0:
		return []string{fmt.Sprintf("Whether %s are as good as each other cannot be told: differences up to %s could hide; %s.", who, quantity.Names(u.untold), narrow)}
	case len(u.untold) == 0:
		all = append(all, fmt.Sprintf("%s are as good as each other: none is worse by more than %s.", part.Capital(who), worseText(u.most)))
	default:
		all = append(all, fmt.Sprintf("In %s %s are as good as each other: none is worse by more than %s.", quantity.Names(u.told), who, worseText(u.most)),
			fmt.Sprintf("Beyond that it cannot be told: differences up to %s could hide; %s.", quantity.Names(u.untold), narrow))
	}
	if len(u.ways) > 0 {
		return append(all, fmt.Sprintf("Of a single way between two of them differences up to %s could hide.", quantity.Names(u.ways)))
	}
	return append(all, fmt.Sprintf("So is every way between two of them, within %s.", worseText(u.mostOfWays)))
}

// unseenBeside says in brackets how much worse the hosts may be that are not named, where
// others are; "" where that is not known.
func unseenBeside(m *Mesh) string {
	switch u := unseenIn(m); {
	case len(u.untold) > 0:
		return fmt.Sprintf(" (differences up to %s could hide)", quantity.Names(u.untold))
	case len(u.told) > 0:
		return fmt.Sprintf(" (none is worse by more than %s)", worseText(u.most))
	}
	return ""
}

// hiddenIn names what a mesh's metric is of.
func hiddenIn(m *Mesh, metric string) string {
	if metric == m.Latency {
		return "latency"
	}
	return map[string]string{Goodput: "goodput", SendCPU: "CPU to send", ReceiveCPU: "CPU to receive"}[metric]
}

// apartText is a difference that could have hidden: "14 %", "3.2×", "any size".
func apartText(worse float64) string {
	if !(worse > 0) {
		return "any size"
	}
	return worseText(worse)
}

// worseText is how many times worse: in percent while that is readable.
func worseText(worse float64) string {
	const readable = 2
	if worse < readable {
		return quantity.ChosenShare(worse - 1)
	}
	return part.Times(worse)
}
