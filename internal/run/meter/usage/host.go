package usage

import (
	"math"
	"strconv"

	"github.com/prometheus/procfs"

	"netdyno/internal/contract"
	"netdyno/internal/run/cpuset"
)

// addHost adds what the reading says of the host. What the kernel does not
// offer stays absent.
func (r *Reader) addHost(m *contract.Meter, pid int) {
	if s, err := r.host.Stat(); err == nil {
		m.CPUs = cpus(s)
	}
	m.CPUSet = cpuset.Of(pid)
	// The worker's own network namespace, which may not be the meter's.
	if lines, err := procfs.NewFS("/proc/" + strconv.Itoa(pid)); err == nil {
		if devices, err := lines.NetDev(); err == nil {
			m.Interfaces = interfaces(devices)
			r.queues.addTo(m.Interfaces, pid)
		}
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		if s, err := r.host.PSIStatsForResource(resource); err == nil && s.Some != nil {
			if m.Pressure == nil {
				m.Pressure = make(map[string]int64, 3)
			}
			m.Pressure[resource] = int64(s.Some.Total) * 1000 // the kernel counts µs
		}
	}
}

// cpus returns the host's CPUs by id. CPUs that are offline are absent.
func cpus(s procfs.Stat) []contract.CPU {
	ns := func(seconds float64) int64 { return int64(math.Round(seconds*100)) * tick }
	list := make([]contract.CPU, 0, len(s.CPU))
	for id := int64(0); len(list) < len(s.CPU); id++ {
		c, online := s.CPU[id]
		if !online {
			continue
		}
		list = append(list, contract.CPU{
			ID: int(id), UserNs: ns(c.User), NiceNs: ns(c.Nice), SystemNs: ns(c.System), IdleNs: ns(c.Idle),
			IOWaitNs: ns(c.Iowait), IRQNs: ns(c.IRQ), SoftIRQNs: ns(c.SoftIRQ), StealNs: ns(c.Steal),
		})
	}
	return list
}

func interfaces(devices procfs.NetDev) contract.Interfaces {
	var counters contract.Interfaces
	for name, d := range devices {
		counters.Set(name, contract.Interface{
			ReceivedBytes: int64(d.RxBytes), ReceivedPackets: int64(d.RxPackets),
			SentBytes: int64(d.TxBytes), SentPackets: int64(d.TxPackets),
			Drops: int64(d.RxDropped + d.TxDropped),
		})
	}
	return counters
}
