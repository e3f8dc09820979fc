package cells

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// clientMetrics are reported for each client by itself. They need no histogram,
// so that computing them again for every trial is cheap.
var clientMetrics = []string{
	metric.ExchangesPerS, metric.Goodput, metric.OfClient + metric.Cores, metric.OfClient + metric.CPUPerExchange,
	metric.OfClient + metric.RSS, metric.OfClient + metric.PeakRSS, metric.OfClient + metric.Threads,
}

// clientsOf sums up each client of an arm's valid trials, in the order of the
// records; nil where there is but one.
func clientsOf(judged []*trial.Judged) []Client {
	if !severalClients(judged) {
		return nil
	}
	pools := map[string]map[string]*Pool{} // by client and metric
	var names []string
	for _, v := range judged {
		if v.Trial.Status != trial.Valid || v.Record == nil {
			continue
		}
		w := record.NewWindow(v.Record)
		for _, g := range w.Generators() {
			if g.Role != contract.Client {
				continue
			}
			if pools[g.Name] == nil {
				pools[g.Name] = map[string]*Pool{}
				names = append(names, g.Name)
			}
			addClient(pools[g.Name], w.Alone(g), v.Trial.Block)
		}
	}
	if len(names) < 2 {
		return nil
	}
	clients := make([]Client, 0, len(names))
	for _, name := range names {
		c := Client{Name: name}
		for _, of := range clientMetrics {
			m, err := metric.Named(of)
			if err != nil || pools[name][of] == nil {
				continue
			}
			if summary, ok := SummaryOf(m, pools[name][of]); ok {
				c.Metrics = append(c.Metrics, summary)
			}
		}
		clients = append(clients, c)
	}
	return clients
}

// severalClients tells whether the records of an arm's trials name more than one client.
func severalClients(judged []*trial.Judged) bool {
	first := ""
	for _, v := range judged {
		if v.Record == nil {
			continue
		}
		for i := range v.Record.Workers {
			w := &v.Record.Workers[i]
			if w.Role == contract.Client && first != "" && w.Name != first {
				return true
			}
			if w.Role == contract.Client {
				first = w.Name
			}
		}
	}
	return false
}

func addClient(pools map[string]*Pool, alone *record.Window, block int) {
	for _, name := range clientMetrics {
		m, err := metric.Named(name)
		if err != nil {
			continue
		}
		value, ok := m.In(alone)
		if !ok {
			continue
		}
		if pools[name] == nil {
			pools[name] = &Pool{}
		}
		pools[name].Add(block, value)
	}
}
