package usage

import (
	"math"
	"net"
	"os"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"

	"netdyno/internal/contract"
	"netdyno/internal/run/cpuset"
)

// addHost adds what the reading says of the host. What the kernel does not
// offer stays absent.
func (r *Reader) addHost(m *contract.Meter, pid int) {
	if s, err := r.host.Stat(); err == nil {
		m.CPUs, r.forks = cpus(s), s.ProcessCreated
	}
	m.CPUSet = cpuset.Of(pid)
	m.Interfaces = interfacesOf(pid)
	r.queues.addTo(m.Interfaces, pid)
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

// interfacesOf returns the interfaces of a process's network namespace, which may not
// be the meter's; none of a process that has ended.
func interfacesOf(pid int) contract.Interfaces {
	process, err := procfs.NewFS("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return nil
	}
	devices, err := process.NetDev()
	if err != nil {
		return nil
	}
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

// queues reads what waits in front of the interfaces. The zero value is ready; one
// goroutine may use it.
type queues struct {
	names map[int]string // of interfaces, by index
}

// addTo adds the queues of the meter's network namespace to the interfaces of a process.
// For a process in another namespace, or where the kernel does not show queues, nothing
// is added. It costs about 50 µs.
func (q *queues) addTo(all contract.Interfaces, pid int) {
	if namespaceOf("thread-self") != namespaceOf(strconv.Itoa(pid)) {
		return
	}
	disciplines, err := netlink.QdiscList(nil)
	if err != nil {
		return
	}
	for _, each := range disciplines {
		a := each.Attrs()
		s := a.Statistics
		counters, known := all.Of(q.name(a.LinkIndex))
		if each.Type() == "noqueue" || s == nil || s.Basic == nil || s.Queue == nil || !known {
			continue
		}
		if counters.Queue == nil {
			counters.Queue = &contract.Queue{}
		}
		// The root stands for all that hang below it, but a discipline below netem
		// counts alone what it delays.
		sum := counters.Queue
		if a.Parent == netlink.HANDLE_ROOT {
			sum.SentBytes = int64(s.Basic.Bytes)
		}
		sum.WaitingBytes = max(sum.WaitingBytes, int64(s.Queue.Backlog))
		sum.Drops = max(sum.Drops, int64(s.Queue.Drops))
		sum.Waits = max(sum.Waits, int64(s.Queue.Overlimits))
		all.Set(q.name(a.LinkIndex), counters)
	}
}

// name returns the name of an interface; "" for none of that index.
func (q *queues) name(index int) string {
	if _, known := q.names[index]; !known {
		q.names = map[int]string{index: ""}
		present, err := net.Interfaces()
		if err != nil {
			return ""
		}
		for _, i := range present {
			q.names[i.Index] = i.Name
		}
	}
	return q.names[index]
}

// namespaceOf returns what tells a process's network namespace from others; "" for
// one that has ended or may not be looked at.
func namespaceOf(process string) string {
	name, err := os.Readlink("/proc/" + process + "/ns/net")
	if err != nil {
		return ""
	}
	return name
}
