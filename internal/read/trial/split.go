package trial

import (
	"math"

	"netdyno/internal/contract"
)

// split says where the CPU time of server, clients and hosts went.
func split(e *audit) []CPUSplit {
	var splits []CPUSplit
	for _, role := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
		spans, ok := e.window.Spans(role)
		if !ok {
			continue
		}
		cores := map[string]float64{}
		for _, s := range spans {
			from, to, _, ok := s.Metered()
			used, known := s.Cores()
			if !ok || !known {
				cores = nil
				break
			}
			user := float64(to.Process.UserNs) - float64(from.Process.UserNs)
			system := float64(to.Process.SystemNs) - float64(from.Process.SystemNs)
			if !(user >= 0 && system >= 0 && user+system > 0) {
				continue
			}
			// The 10 ms split only divides what the precise clock counted.
			cores["user"] += used * user / (user + system)
			cores["system"] += used * system / (user + system)
		}
		if len(cores) > 0 {
			splits = append(splits, CPUSplit{Of: string(role), Cores: CoresOf(cores)})
		}
	}
	return append(splits, splitHosts(e)...)
}

func splitHosts(e *audit) []CPUSplit {
	var splits []CPUSplit
	hosts := e.window.Hosts()
	for _, h := range hosts {
		from, to, length, _ := h.Metered()
		cores := map[string]float64{}
		for i, a := range from.CPUs {
			b := to.CPUs[i]
			add := func(key string, from, to int64) {
				cores[key] += (float64(to) - float64(from)) / 1e9 / length
			}
			add("user", a.UserNs, b.UserNs)
			add("user", a.NiceNs, b.NiceNs)
			add("system", a.SystemNs, b.SystemNs)
			add("irq", a.IRQNs, b.IRQNs)
			add("softirq", a.SoftIRQNs, b.SoftIRQNs)
			add("steal", a.StealNs, b.StealNs)
			add("idle", a.IdleNs, b.IdleNs)
			add("idle", a.IOWaitNs, b.IOWaitNs)
		}
		for key, c := range cores {
			cores[key] = math.Max(0, c) // idle time may step back by a tick
		}
		name := "host"
		if len(hosts) > 1 {
			name += " " + h.Worker.Seat
		}
		splits = append(splits, CPUSplit{Of: name, Cores: CoresOf(cores)})
	}
	return splits
}
