package usage

import (
	"net"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"

	"netdyno/internal/contract"
)

// queues reads what waits in front of the interfaces. The zero value is ready; one
// goroutine may use it.
type queues struct {
	names map[int]string // of interfaces, by index
}

// addTo adds the queues of the meter's network namespace to the interfaces of a
// process. Of a process in another one they stay absent, as they do where the
// kernel does not show them. It costs about 50 µs.
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
