package trial

import (
	"fmt"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
)

// HeadOfLine says that small exchanges waited most of their time behind larger ones of
// their connection.
const HeadOfLine Limit = "head-of-line"

// waitedBehind is the share of the small exchanges' time from which it counts as the limit.
const waitedBehind = 0.5

var limitHeadOfLine = limitRule{HeadOfLine, func(e *audit) (contract.Role, string) {
	b := e.behind()
	if !(b.waited >= waitedBehind*b.time) {
		return "", ""
	}
	return "", fmt.Sprintf("%s of the requests below %s had one on their connection that was at least two bins larger: these took %s in the mean, the others of the same sizes %s, and the difference is %s of the time of them all",
		quantity.FormatShare(b.behind/(b.behind+b.free)), quantity.FormatBytes(float64(b.below)), b.mean(b.behindNs, b.behind), b.mean(b.freeNs, b.free), quantity.FormatShare(b.waited/b.time))
}, meanHeadOfLine}

// waits are what small exchanges of a trial took, in ns, by whether a larger one was on
// their connection.
type waits struct {
	behind, free     float64 // exchanges
	behindNs, freeNs float64 // sums of their times
	waited, time     float64 // what those behind took more than free ones of their size; what all took
	below            int64   // bytes
}

// behind compares exchanges behind larger ones with free ones of the same size. Sizes with
// too few free ones for a mean are left out.
func (e *audit) behind() (w waits) {
	bins, _ := e.window.Bins()
	for _, b := range bins {
		behind, free := float64(b.Behind.Count()), float64(b.Free.Count())
		if behind == 0 || free < hist.TailMin {
			continue
		}
		behindNs, freeNs := behind*b.Behind.MeanNs(), free*b.Free.MeanNs()
		w.behind, w.free, w.below = w.behind+behind, w.free+free, b.ToBytes
		w.behindNs, w.freeNs = w.behindNs+behindNs, w.freeNs+freeNs
		w.waited += behindNs - behind*b.Free.MeanNs()
	}
	w.time = w.behindNs + w.freeNs
	if w.time == 0 {
		w.waited = -1 // nothing is known
	}
	return w
}

func (waits) mean(ns, of float64) string { return quantity.FormatDuration(time.Duration(ns / of)) }

// What its name stands for in netdyno explain.
var meanHeadOfLine = Meaning{Called: "waiting behind larger messages", Means: "small requests spent at least half of their time behind larger ones of their connection", Cure: "use more connections, send large messages on connections of their own, or cut them into smaller ones"}
