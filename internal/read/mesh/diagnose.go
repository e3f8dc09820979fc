package mesh

import (
	"slices"

	"netdyno/internal/read/stat"
)

// diagnose names what is wrong: after the lost hosts leaves, then hosts, cables and
// pairs. A host that is named because figures are missing is not named twice: where the
// figures that it has show it to be worse, they become its evidence.
func (r *reading) diagnose(m *Mesh, lost []Outlier) []Outlier {
	all := slices.Clone(lost)
	var single []Outlier
	for i := range r.hosts {
		o, is := r.worseHost(i, m.Margin)
		at := slices.IndexFunc(all, func(l Outlier) bool { return l.Hosts[0] == r.names[i] })
		switch {
		case is && at < 0:
			single = append(single, o)
		case is && all[at].Kind == OfHost:
			all[at].Evidence, all[at].Full = o.Evidence, o.Full
		}
	}
	leaves, rest := r.leaves(m, single)
	all = append(append(all, leaves...), rest...)
	return append(all, r.worsePairs(named(all), len(leaves) > 0)...)
}

// lostHosts names hosts of whose trials many have no figure. That needs no statistics.
func (r *reading) lostHosts() []Outlier {
	var all []Outlier
	for i := range r.hosts {
		if o, is := r.lostHost(i); is {
			all = append(all, o)
		}
	}
	return all
}

// A host is named for its missing figures when at least this share of its trials has
// none, and that is several times as much as of the trials without it.
const (
	mostMissing  = 0.25
	timesMissing = 4
)

// lostHost names a host that is gone, of whose trials many failed, or one that is
// there and cannot keep to a window, of whose trials many are not valid.
func (r *reading) lostHost(i int) (Outlier, bool) {
	own := r.missing(i, -1)
	o := Outlier{Kind: Lost, Hosts: []string{r.names[i]}, Missing: own.missing, Of: own.of, Reason: own.reason}
	switch {
	case r.stands(i, func(l lost) int { return l.failed }):
		return o, true
	case r.stands(i, func(l lost) int { return l.missing }):
		o.Kind = OfHost
		return o, true
	}
	return Outlier{}, false
}

// stands tells whether so many of a host's trials stand out from those without it.
func (r *reading) stands(i int, many func(lost) int) bool {
	share := func(l lost) float64 { return float64(many(l)) / float64(l.of) }
	own := r.missing(i, -1)
	if own.of == 0 || share(own) < mostMissing {
		return false
	}
	var others []float64
	for j := range r.hosts {
		if other := r.missing(j, i); j != i && other.of > 0 {
			others = append(others, share(other))
		}
	}
	return len(others) > 0 && timesMissing*stat.Median(others) <= share(own)
}

// missing sums up a host's trials with all partners but one.
func (r *reading) missing(host, but int) lost {
	var sum lost
	for partner, one := range r.lost[host] {
		if partner == but {
			continue
		}
		sum.missing, sum.failed, sum.of = sum.missing+one.missing, sum.failed+one.failed, sum.of+one.of
		if one.at >= sum.at && one.reason != "" {
			sum.at, sum.reason = one.at, one.reason
		}
	}
	return sum
}

// worseHost names a host, or what connects it. A machine that is slow costs more CPU
// for the same bytes, or answers late, or has no CPU left; a cable that is slow only
// moves fewer bytes. Fewer bytes per second make each of them dearer, as the fixed
// costs are shared by fewer: CPU per GB counts against the machine only as far as
// the CPU per second is higher too.
func (r *reading) worseHost(i int, margin float64) (Outlier, bool) {
	h := r.hosts[i]
	var rate, machine []Evidence
	add := func(list *[]Evidence, metric string, role Role, e Effect) {
		if e.Off {
			*list = append(*list, Evidence{metric, role, e})
		}
	}
	add(&rate, Goodput, Sends, h.Sends)
	add(&rate, Goodput, Receives, h.Receives)
	add(&machine, r.latency, Asks, h.Asks)
	add(&machine, r.latency, Answers, h.Answers)
	if dearer(h.SendCPU, h.Sends, margin) {
		add(&machine, SendCPU, Sends, h.SendCPU)
	}
	if dearer(h.ReceiveCPU, h.Receives, margin) {
		add(&machine, ReceiveCPU, Receives, h.ReceiveCPU)
	}
	o := Outlier{Kind: OfHost, Hosts: []string{h.Name}, Evidence: append(machine, rate...), Full: r.full(i)}
	switch {
	case len(o.Evidence) == 0:
		return o, false
	case len(machine) == 0 && !o.Full:
		o.Kind = OfCable
	}
	return o, true
}

// dearer tells whether a cost per byte is more than a lower rate explains.
func dearer(cost, rate Effect, margin float64) bool {
	return !rate.Off || cost.Ratio*rate.Ratio > 1+margin
}

// full tells whether a host's CPU was the limit of most of its bulk trials, and not
// of most hosts' trials.
func (r *reading) full(i int) bool {
	mine := func(h Host) bool { return h.Bulk > 0 && 2*h.Full >= h.Bulk }
	others := 0
	for j, h := range r.hosts {
		if j != i && mine(h) {
			others++
		}
	}
	return mine(r.hosts[i]) && 4*others < len(r.hosts)
}

// worsePairs names pairs of hosts that are not named themselves. Between leaves that
// are named every pair is worse, and none says more.
func (r *reading) worsePairs(off []string, leaves bool) []Outlier {
	if leaves {
		return nil
	}
	var all []Outlier
	is := r.which(off)
	for i, from := range r.names {
		for j, to := range r.names {
			if i == j || is[i] || is[j] {
				continue
			}
			o := Outlier{Kind: OfPair, Hosts: []string{from, to}}
			for _, name := range []string{Goodput, r.latency} {
				if e, known := r.effects[name]; known && e.Pairs[[2]int{i, j}].Off {
					o.Evidence = append(o.Evidence, Evidence{name, Between, e.Pairs[[2]int{i, j}]})
				}
			}
			if len(o.Evidence) > 0 {
				all = append(all, o)
			}
		}
	}
	return all
}
