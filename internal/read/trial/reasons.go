package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// reasonsSaid is how many reasons a sentence names.
const reasonsSaid = 4

// maxErrors returns the share of exchanges that may fail: that
// of factor max_errors, else none with our own servers.
func (e *audit) maxErrors() float64 {
	if share, err := quantity.ParseShare(e.window.Record.Trial.Levels["max_errors"]); err == nil {
		return share
	}
	if e.servedElsewhere() {
		return contract.ForeignErrors
	}
	return 0
}

// lostConnections returns how many connections of a client broke and were not made
// again, and of how many: what remained was not the declared load. Only a client that
// never connects again can tell.
func lostConnections(g *record.Worker) (lost, of int64) {
	if g.Result == nil || g.Ready == nil || g.Close == nil || g.Result.Counts.Errors[contract.Peer] == 0 || g.Result.Counts.Redialled > 0 ||
		g.Setup == nil || g.Setup.Load.Fresh {
		return 0, 0
	}
	of = int64(g.Ready.Connections)
	if open := g.Close.Reading.Counts.Connections; open > 0 {
		return max(0, of-open), of
	}
	return 0, 0
}

// reasonsOf returns why exchanges of the trial failed. The counts by kind decide how
// many: what a client gives no reason for has its kind's name.
func (e *audit) reasonsOf() []contract.Reason {
	var all []contract.Reason
	for _, g := range e.generators {
		if g.Result == nil {
			continue
		}
		left := maps.Clone(g.Result.Counts.Errors)
		total := int64(0)
		for _, n := range left {
			total += n
		}
		for _, r := range g.Result.Reasons {
			if r.Text = clipped(r.Text); r.Count <= 0 || r.Count > total {
				continue
			}
			total -= r.Count
			left[r.Kind] -= r.Count
			all = append(all, r)
		}
		for _, kind := range slices.Sorted(maps.Keys(left)) {
			if n := min(left[kind], total); n > 0 {
				total -= n
				all = append(all, contract.Reason{Kind: kind, Text: string(kind), Count: n})
			}
		}
	}
	return SumReasons(all)
}

func clipped(text string) string {
	text = printable.Text(text)
	if len(text) > contract.MostReasonText {
		text = strings.ToValidUTF8(text[:contract.MostReasonText], "")
	}
	return text
}

// SumReasons adds up equal reasons. The most frequent come first, and what comes after
// them is counted together.
func SumReasons(all []contract.Reason) []contract.Reason {
	type key struct {
		kind contract.ErrorKind
		text string
	}
	sums := map[key]int64{}
	for _, r := range all {
		sums[key{r.Kind, r.Text}] += r.Count
	}
	others := key{text: contract.OtherReasons}
	rest := sums[others]
	delete(sums, others)
	most := make([]contract.Reason, 0, len(sums)+1)
	for k, n := range sums {
		most = append(most, contract.Reason{Kind: k.kind, Text: k.text, Count: n})
	}
	slices.SortFunc(most, func(a, b contract.Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Kind, b.Kind))
	})
	for ; len(most) > contract.MostReasons; most = most[:len(most)-1] {
		rest += most[len(most)-1].Count
	}
	if rest > 0 {
		most = append(most, contract.Reason{Text: contract.OtherReasons, Count: rest})
	}
	return most
}

// ReasonsText names the most frequent reasons: "429 Too Many Requests (38), connection
// reset (2)".
func ReasonsText(reasons []contract.Reason) string {
	var parts []string
	rest := int64(0)
	for i, r := range reasons {
		if i >= reasonsSaid || r.Text == contract.OtherReasons && r.Kind == "" {
			rest += r.Count
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", r.Text, r.Count))
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%s (%d)", contract.OtherReasons, rest))
	}
	return strings.Join(parts, ", ")
}

// failedText says how many exchanges failed and why.
func (e *audit) failedText(total int64) string {
	return fmt.Sprintf("%s failed: %s", quantity.Plural(int(total), "exchange"), ReasonsText(e.reasonsOf()))
}
