package mesh

import "netdyno/internal/record"

// Charts returns the heat maps of the mesh: each metric by sender and receiver.
func (m *Mesh) Charts() []record.Chart {
	titles := map[string]string{
		Goodput: "Goodput by pair", SendCPU: "What sending costs, by pair", ReceiveCPU: "What receiving costs, by pair", m.Latency: "Latency by pair",
	}
	var all []record.Chart
	for _, one := range m.Middles {
		where := map[string]string{"stream": m.Stream}
		if one.Metric == m.Latency {
			where["stream"] = "no"
		}
		all = append(all, record.Chart{Title: titles[one.Metric], Kind: record.Heat, Metric: one.Metric, X: serverHost, Y: clientHost, Where: where})
	}
	return all
}
