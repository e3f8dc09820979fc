package mesh

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// outliersSaid bounds the outliers of which the answer speaks; the table has all.
const outliersSaid = 4

// sentences answer whether every host and what connects them is as good as the
// others.
func (m *Mesh) sentences() []string {
	if m.Pairs == 0 && len(m.Outliers) == 0 {
		return []string{"No pair of hosts has a valid bulk trial, so nothing can be said of them."}
	}
	if m.Unnamed != "" {
		var all []string
		for _, o := range m.Outliers { // lost ones
			all = append(all, outlierSentence(m, o))
		}
		return append(all, "Nobody else is named: "+m.Unnamed+".")
	}
	if len(m.Outliers) == 0 {
		return []string{equalSentence(m, fmt.Sprintf("all %d hosts", len(m.Hosts)))}
	}
	var all []string
	for _, o := range m.Outliers[:min(outliersSaid, len(m.Outliers))] {
		all = append(all, outlierSentence(m, o))
	}
	if more := len(m.Outliers) - outliersSaid; more > 0 {
		all = append(all, fmt.Sprintf("The table names %d more.", more))
	}
	off := named(m.Outliers)
	slices.Sort(off)
	if others := len(m.Hosts) - len(slices.Compact(off)); others > 0 {
		if others == 1 {
			return append(all, "The other host is not named.")
		}
		all = append(all, equalSentence(m, fmt.Sprintf("the other %d hosts", others)))
	}
	return all
}

// outlierSentence names what is wrong and by what that is known.
func outlierSentence(m *Mesh, o Outlier) string {
	who := o.Hosts[0]
	switch o.Kind {
	case Lost:
		return fmt.Sprintf("Host %s was lost: %d of its %d trials have no figure.", who, o.Missing, o.Of)
	case OfHost:
		parts := []string{}
		if o.Missing > 0 {
			parts = append(parts, fmt.Sprintf("%d of its %d trials are not valid", o.Missing, o.Of))
		}
		if len(o.Evidence) > 0 {
			parts = append(parts, evidenceText(m, o))
		}
		if o.Full {
			parts = append(parts, "its CPU is full")
		}
		return fmt.Sprintf("Host %s is slow: %s%s.", who, strings.Join(parts, "; "), beside(o.Facts))
	case OfCable:
		return fmt.Sprintf("The cable, card or port of %s is slow: %s, at normal CPU cost and latency%s.", who, evidenceText(m, o), beside(o.Facts))
	case OfLeaf:
		return fmt.Sprintf("The leaf of %s is slow: towards the rest its hosts move %s what they move among themselves%s.", quantity.Names(o.Hosts), effectText(o.Evidence[0].Effect), beside(o.Facts))
	}
	return fmt.Sprintf("The way from %s to %s is slow: %s, by what both do with the others.", who, o.Hosts[1], evidenceText(m, o))
}

// beside names the first fact in which an outlier is unlike the others; the table has
// them all.
func beside(facts []string) string {
	switch len(facts) {
	case 0:
		return ""
	case 1:
		return "; " + facts[0]
	}
	return fmt.Sprintf("; %s, and %d more facts differ", facts[0], len(facts)-1)
}

// evidenceText says what is off, of latency the larger of both roles: "it sends 0.41×
// (0.40–0.42) with every partner".
func evidenceText(m *Mesh, o Outlier) string {
	var parts []string
	most := 0.0 // latency
	for _, e := range o.Evidence {
		if e.Metric == m.Latency {
			most = max(most, e.Ratio)
		}
	}
	for _, e := range o.Evidence {
		if e.Metric == m.Latency && e.Ratio < most {
			continue
		}
		text := roleText(m, e) + " " + effectText(e.Effect)
		if len(parts) == 0 {
			text += partnersText(e.Effect)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func partnersText(e Effect) string {
	switch {
	case e.Of == 0:
		return ""
	case e.Partners == e.Of:
		return " with every partner"
	}
	return fmt.Sprintf(" with %d of %d partners", e.Partners, e.Of)
}

func roleText(m *Mesh, e Evidence) string {
	switch {
	case e.Metric == SendCPU:
		return "CPU to send"
	case e.Metric == ReceiveCPU:
		return "CPU to receive"
	case e.Metric == m.Latency:
		return "latency"
	case e.Role == Between:
		return "it moves"
	}
	return "it " + string(e.Role)
}

func effectText(e Effect) string {
	if e.Low < e.High {
		return part.TimesIn(e.Ratio, e.Low, e.High)
	}
	return part.Times(e.Ratio)
}
