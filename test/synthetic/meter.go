package synthetic

import "netdyno/internal/contract"

// cpuNs is what a load of cores has used at an instant of the host's clock.
func cpuNs(cores float64, at int64) int64 { return int64(cores * float64(at-beginNs)) }

func goRuntime(cores float64, exchanges, at int64) *contract.Runtime {
	used := cpuNs(cores, at)
	return &contract.Runtime{
		GCCycles: exchanges / 100_000, GCPauseNs: used / 5000, GCCPUNs: used / 50,
		AllocBytes: exchanges * 48, AllocObjects: exchanges * 2, HeapBytes: 4 << 20, Goroutines: 12,
	}
}

// meter reads a worker of the given cores on the given CPUs, and a host on
// which server and clients run side by side.
func meter(s state, at int64, cores float64, set []int) *contract.Meter {
	used := cpuNs(cores, at)
	received := int64(s.rate * float64(s.up+s.down) * 1.7 * float64(at-beginNs) / 1e9)
	m := &contract.Meter{
		AtNs: at + 30_000, SkewNs: 40_000, CPUSet: set,
		Process: contract.Process{
			CPUNs: used, UserNs: used * 3 / 10, SystemNs: used * 7 / 10, RSSBytes: 20 << 20, PeakRSSBytes: 24 << 20,
			VoluntarySwitches: used / 40_000, InvoluntarySwitches: used / 900_000, Processes: 1, Threads: 2,
		},
		Threads: []contract.Thread{
			{ID: 4711 + set[0], Name: "netdyno-worker", CPUNs: used * 6 / 10},
			{ID: 4712 + set[0], Name: "netdyno-worker", CPUNs: used * 4 / 10},
		},
		Interfaces: contract.Interfaces{{Name: "lo", Interface: contract.Interface{
			ReceivedBytes: received, SentBytes: received, ReceivedPackets: received / 170, SentPackets: received / 170,
		}}},
	}
	for id := range hostCPUs {
		load := s.serverCores / 2
		if id >= 2 {
			load = s.clientCores / 2
		}
		passed, busy := at-beginNs, int64(min(load, 0.9)*float64(at-beginNs))
		softirq := busy / 10
		m.CPUs = append(m.CPUs, contract.CPU{
			ID: id, UserNs: busy * 3 / 10, SystemNs: busy * 7 / 10, SoftIRQNs: softirq,
			IdleNs: 3_000_000_000_000 + int64(id)*1_000_000_000 + passed - busy - softirq,
		})
	}
	return m
}
