package usage

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"

	"netdyno/internal/contract"
)

// Glance takes a brief reading, for five a second beside a running load: the tree's
// CPU time and resident memory, and the interfaces of its network namespace. It looks
// at no thread by itself. The error says that the process is gone.
func (r *Reader) Glance(more []int) (contract.Meter, error) {
	m := contract.Meter{AtNs: Now()}
	if _, err := processCPU(r.pid); err != nil {
		return m, fmt.Errorf("glance at process %d: %w", r.pid, err)
	}
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, threads []int) {
		r.glanceAt(&m.Process, pid)
		m.Process.Threads += len(threads)
	})
	if own, err := procfs.NewFS("/proc/" + strconv.Itoa(r.pid)); err == nil {
		if devices, err := own.NetDev(); err == nil {
			m.Interfaces = interfaces(devices)
			m.Interfaces = slices.DeleteFunc(m.Interfaces, func(i contract.NamedInterface) bool { return i.ReceivedPackets+i.SentPackets == 0 })
		}
	}
	return m, nil
}

// glanceAt adds one process; one that ends meanwhile adds what could still be read.
func (r *Reader) glanceAt(p *contract.Process, pid int) {
	cpu, err := processCPU(pid)
	if err != nil {
		return
	}
	p.Processes++
	p.CPUNs += cpu
	if text, err := r.tree.file.process(pid, "stat"); err == nil {
		if s, ok := parseStat(text); ok {
			p.CPUNs += s.waitedUserNs + s.waitedSystemNs
			p.UserNs += s.userNs + s.waitedUserNs
			p.SystemNs += s.systemNs + s.waitedSystemNs
		}
	}
	if text, err := r.tree.file.process(pid, "statm"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 {
			p.RSSBytes += number(fields[1]) * int64(os.Getpagesize()) // proc_pid_statm(5): size, resident
		}
	}
}
