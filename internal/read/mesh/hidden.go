package mesh

import (
	"math"
	"slices"
)

// Alike is how much worse by a metric a host may be and still be called as good as the
// others, where the mesh's margin is not larger.
const Alike = 0.10

// Hidden is what a mesh could not have seen by one metric, among the hosts that are not
// named: by how many times any of them may be worse than the others, by the worst end
// of their simultaneous intervals. 0 where one of them has no interval, and for ways
// where they are not judged by the metric.
type Hidden struct {
	Metric string  `json:"metric"`
	Hosts  float64 `json:"hosts,omitempty"` // 1.04: 4 % worse at the most
	Ways   float64 `json:"ways,omitempty"`  // what is left between two hosts when both are taken out
}

// Bound is the largest difference with which hosts are called alike: 1.1 for 10 %.
func (m *Mesh) Bound() float64 { return 1 + max(Alike, m.Margin) }

// AsGood tells whether no difference above the bound could have hidden.
func (m *Mesh) AsGood(times float64) bool { return times > 0 && times <= m.Bound() }

// hidden finds for every metric what could have hidden.
func (r *reading) hidden(m *Mesh) []Hidden {
	off := r.which(named(m.Outliers))
	left := func(i int) bool { return !off[i] }
	var all []Hidden
	for _, name := range []string{Goodput, r.latency, SendCPU, ReceiveCPU} {
		e, known := r.effects[name]
		if !known {
			continue
		}
		of := Hidden{Metric: name}
		worse := 1.0
		if name == Goodput {
			worse = -1
		}
		var hosts, ways []Effect
		for i := range r.names {
			if !left(i) {
				continue
			}
			if name != ReceiveCPU {
				hosts = append(hosts, e.From[i])
			}
			if name != SendCPU {
				hosts = append(hosts, e.To[i])
			}
		}
		for way, effect := range e.Pairs {
			if left(way[0]) && left(way[1]) && !namedPair(m.Outliers, r.names[way[0]], r.names[way[1]]) {
				ways = append(ways, effect)
			}
		}
		of.Hosts = furthest(hosts, worse)
		if name == Goodput || name == r.latency {
			of.Ways = furthest(ways, worse)
		}
		all = append(all, of)
	}
	return all
}

// furthest returns how many times worse the worst effect may be; 0 where one of them has
// no interval.
func furthest(effects []Effect, worse float64) float64 {
	most := 1.0
	for _, e := range effects {
		if !(e.Low > 0) {
			return 0
		}
		most = max(most, math.Pow(e.High, max(0, worse)), math.Pow(e.Low, min(0, worse)))
	}
	return most
}

func namedPair(outliers []Outlier, from, to string) bool {
	return slices.ContainsFunc(outliers, func(o Outlier) bool {
		return o.Kind == OfPair && o.Hosts[0] == from && o.Hosts[1] == to
	})
}
