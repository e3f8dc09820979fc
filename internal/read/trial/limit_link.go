package trial

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Link says that the link was full. Never on loopback, where copying is CPU work.
const Link Limit = "link"

// linkFull is the share of a link's ceiling from which the link counts as the
// limit (specification §5).
const linkFull = 0.95

// linkBeyond is the share of its rate that no link carries, a bucket's first burst in
// a short window included: what a card calls its rate is made up then.
const linkBeyond = 1.5

// linkTrafficOf reads what crossed a link. Loopback is no link: its most is what the CPUs
// copy, and other limits look at the CPUs. Nothing is said where the server was not
// metered either: the server's CPU may have bounded what arrived.
func linkTrafficOf(e *audit, v *Judged) LinkTraffic {
	link, ok := e.window.Link()
	if !ok || e.away() != "" {
		return LinkTraffic{}
	}
	p := LinkTraffic{link: link + shapeOf(v), Through: link, arriving: map[contract.Role]float64{}}
	for _, g := range e.generators {
		if g.Setup != nil {
			p.bulk = g.Setup.Exchange.Stream
		}
	}
	for _, at := range []contract.Role{contract.Server, contract.Client} {
		if rate, ok := metric.Arriving(e.window, at); ok {
			p.arriving[at] = rate
		}
	}
	// A pair that streams upwards counts at its far end, where it is no server.
	if total, ok := e.values[metric.Goodput]; ok && p.bulk == contract.StreamUp && p.arriving[contract.Server] == 0 {
		p.arriving[contract.Server] = total
	}
	return p
}

// shapeOf lists the levels that shape a trial's link, sorted: " link.delay=5ms
// link.rate=1Gbit/s"; "" for none.
func shapeOf(v *Judged) string {
	var shape []string
	for factor, level := range v.Plan.Levels {
		if strings.HasPrefix(factor, "link.") {
			shape = append(shape, " "+factor+"="+level)
		}
	}
	slices.Sort(shape)
	return strings.Join(shape, "")
}

// streamsTo tells whether the trial is bulk in the direction of an end.
func (p LinkTraffic) streamsTo(at contract.Role) bool {
	switch p.bulk {
	case contract.StreamUp:
		return at == contract.Server
	case contract.StreamDown:
		return at == contract.Client
	}
	return p.bulk == contract.StreamBoth
}

// direction is one way of a link.
type direction struct {
	link string
	at   contract.Role // where it ends
}

// ceiling is the highest rate of a bulk trial over a link in one direction.
type ceiling struct {
	bytesPerS float64
	by        record.Trial
}

// LimitByLink names the link where the link was full, before any other limit. Only all
// trials together show a full link: a link of known rate by the share of that rate (see
// ShareLinks), any link by a ceiling, the most that a bulk arm of the run moved over the
// same link in the same direction.
func LimitByLink(judged []*Judged) {
	for _, v := range judged {
		share, known := v.Trial.Values.Of(metric.LinkRateShare)
		if known && v.Trial.Status == Valid && share >= linkFull && share < linkBeyond {
			v.limitByLink(fmt.Sprintf("the link%s carried %s of its rate, headers included", shapeOf(v), quantity.FormatShare(share)))
		}
	}
	ceilings := ceilingsOf(judged)
	for _, v := range judged {
		if v.Trial.Status != Valid || v.Trial.Limit == Link {
			continue
		}
		for _, at := range []contract.Role{contract.Server, contract.Client} {
			most, known := ceilings[direction{v.Traffic.link, at}]
			rate := v.Traffic.arriving[at]
			if !known || rate < linkFull*most.bytesPerS {
				continue
			}
			v.limitByLink(fmt.Sprintf("%s arrived at the %s over %s, %s of the highest rate of a bulk stream in this run (%s by %s, trial %s)",
				quantity.FormatByteRate(rate), at, v.Traffic.link, quantity.FormatShare(rate/most.bytesPerS), quantity.FormatByteRate(most.bytesPerS), most.by.Arm, most.by.ID))
			break
		}
	}
}

// limitByLink names the link, and behind its proof what else an end ran out of.
func (v *Judged) limitByLink(proof string) {
	if v.Trial.Limit.isEnds() {
		proof += also(v.Trial.Limit, v.Trial.LimitProof)
	}
	v.Trial.Limit, v.LimitOf, v.Trial.LimitProof = Link, "", proof
}

// also names a second limit behind the proof of the first.
func also(limit Limit, proof string) string { return fmt.Sprintf("; also %s: %s", limit, proof) }

// ceilingsOf returns the best of the valid bulk trials by direction. One whose
// own limit was a CPU, a buffer or a window measured that, not the link.
func ceilingsOf(judged []*Judged) map[direction]ceiling {
	best := map[direction]ceiling{}
	for _, v := range judged {
		if v.Trial.Status != Valid || v.Traffic.link == "" || v.Trial.Limit.isEnds() {
			continue
		}
		for at, rate := range v.Traffic.arriving {
			d := direction{v.Traffic.link, at}
			if v.Traffic.streamsTo(at) && rate > best[d].bytesPerS {
				best[d] = ceiling{rate, v.Plan}
			}
		}
	}
	return best
}

// isEnds tells whether the limit is something of the ends': their computing
// time, their buffers and windows.
func (l Limit) isEnds() bool {
	return slices.Contains([]Limit{ServerCore, ClientCore, ServerCPU, ClientCPU, HopCPU, HostCPU, ReceiveWindow, SendBuffer, FlowControl}, l)
}

// What its name stands for in netdyno explain.
var meanLink = Meaning{Called: "the link", Means: "the link carried at least 95 % of its rate, or of the best bulk trial over the same interfaces, or replies waited in its queue", Cure: "compare CPU per byte: the rate is the link's"}

// ShareLinks sets every valid trial's share of its link's nominal rate, of which
// the cards' part stands among the facts and not in the records.
func ShareLinks(facts record.Facts, judged []*Judged) {
	nominal := cardRates(facts)
	m, err := metric.Named(metric.LinkRateShare)
	if err != nil || len(nominal) == 0 {
		return
	}
	for _, v := range judged {
		if v.Record == nil || v.Trial.Status != Valid {
			continue
		}
		w := record.NewWindow(v.Record)
		w.Nominal = nominal
		if share, ok := m.In(w); ok {
			v.Trial.Values.Set(metric.LinkRateShare, share)
		}
	}
}

// cardRates returns what the network cards are rated at, in bits per second, by
// "seat/eth0". A veth has no card: the speed that it reports is made up.
func cardRates(f record.Facts) map[string]float64 {
	rates := map[string]float64{}
	for seat, host := range f.Seats {
		for name, value := range host.Values {
			card, is := strings.CutSuffix(name, ".speed_mbit_per_s")
			card, nic := strings.CutPrefix(card, "nic.")
			if !is || !nic || host.Values["nic."+card+".driver"] == "veth" {
				continue
			}
			if mbit, err := strconv.ParseFloat(value, 64); err == nil && mbit > 0 {
				rates[seat+"/"+card] = mbit * 1e6
			}
		}
	}
	return rates
}
