package mesh

import "slices"

// diagnose names what is wrong: lost hosts first, then leaves, hosts, cables, pairs.
func (r *reading) diagnose(m *Mesh) []Outlier {
	var all []Outlier
	for i := range r.hosts {
		if o, is := r.lostHost(i); is {
			all = append(all, o)
		}
	}
	var single []Outlier
	for i := range r.hosts {
		if o, is := r.worseHost(i, m.Margin); is && !slices.Contains(named(all), r.names[i]) {
			single = append(single, o)
		}
	}
	leaves, rest := r.leaves(m, single)
	all = append(append(all, leaves...), rest...)
	return append(all, r.worsePairs(named(all), len(leaves) > 0)...)
}

// mostMissing is the share of its trials without a figure from which on a host is
// lost, where the median host loses less than half of that.
const mostMissing = 0.5

func (r *reading) lostHost(i int) (Outlier, bool) {
	h := r.hosts[i]
	if h.Trials == 0 || float64(r.lost[i].missing) < mostMissing*float64(h.Trials) {
		return Outlier{}, false
	}
	var others []float64
	for j, other := range r.hosts {
		if j != i && other.Trials > 0 {
			others = append(others, float64(r.lost[j].missing)/float64(other.Trials))
		}
	}
	slices.Sort(others)
	if len(others) == 0 || others[len(others)/2] >= mostMissing/2 {
		return Outlier{}, false
	}
	return Outlier{Kind: Lost, Hosts: []string{h.Name}, Missing: r.lost[i].missing, Of: h.Trials, Reason: r.lost[i].reason}, true
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
	for i, from := range r.names {
		for j, to := range r.names {
			if i == j || slices.Contains(off, from) || slices.Contains(off, to) {
				continue
			}
			o := Outlier{Kind: OfPair, Hosts: []string{from, to}}
			for _, name := range []string{Goodput, r.latency} {
				if e, known := r.effects[name]; known && e.Pairs[i][j].Off {
					o.Evidence = append(o.Evidence, Evidence{name, Between, e.Pairs[i][j]})
				}
			}
			if len(o.Evidence) > 0 {
				all = append(all, o)
			}
		}
	}
	return all
}
