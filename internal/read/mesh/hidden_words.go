package mesh

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// unseen is what could have hidden among hosts, put into words.
type unseen struct {
	told, untold []string // metrics in which hosts are equal, and the others with what could hide
	most         float64  // of those told
}

func unseenIn(m *Mesh) unseen {
	u := unseen{most: 1}
	for _, h := range m.Hidden {
		what := hiddenIn(m, h.Metric)
		if m.AsGood(h.Hosts) {
			u.told, u.most = append(u.told, what), max(u.most, h.Hosts)
		} else {
			u.untold = append(u.untold, apartText(h.Hosts)+" in "+what)
		}
	}
	return u
}

// equalSentence says in what hosts are equal, and what of that cannot be told.
func equalSentence(m *Mesh, who string) string {
	u := unseenIn(m)
	hidden := "differences up to " + quantity.And(u.untold) + " could hide"
	switch {
	case len(u.told)+len(u.untold) == 0:
		return fmt.Sprintf("Of %s none is named.", who)
	case len(u.told) == 0:
		return fmt.Sprintf("Whether %s are equal is too close to call: %s.", who, hidden)
	case len(u.untold) == 0:
		return fmt.Sprintf("%s are equal within %s.", part.Capital(who), worseText(u.most))
	}
	return fmt.Sprintf("%s are equal in %s within %s; %s.", part.Capital(who), quantity.And(u.told), worseText(u.most), hidden)
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
