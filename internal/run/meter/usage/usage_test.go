package usage

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

func TestReadOfThisProcess(t *testing.T) {
	for sink := range 50_000_000 {
		runtime.KeepAlive(sink)
	}
	before := ownCPU(t)
	m, err := readOnce(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := ownCPU(t)
	if p := m.Process; p.CPUNs < before || p.CPUNs > after {
		t.Errorf("CPU %d ns, want between getrusage before (%d) and after (%d)", p.CPUNs, before, after)
	}
	if p := m.Process; p.Processes != 1 || p.Threads < 2 || p.RSSBytes <= 0 || p.PeakRSSBytes < p.RSSBytes || p.VoluntarySwitches == 0 {
		t.Errorf("process %+v", p)
	}
	var threads int64
	for _, thread := range m.Threads {
		threads += thread.CPUNs
	}
	if threads <= 0 || threads > after {
		t.Errorf("the threads' CPU %d ns, want more than 0 and at most the process's %d", threads, after)
	}
	for _, thread := range m.Threads {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", thread.ID))
		if err == nil && thread.Name != strings.TrimSpace(string(comm)) {
			t.Errorf("thread %d is named %q, want %q", thread.ID, thread.Name, comm)
		}
	}
	if !slices.ContainsFunc(m.Threads, func(thread contract.Thread) bool { return thread.ID == os.Getpid() }) {
		t.Errorf("no leading thread among %+v", m.Threads)
	}
	if len(m.CPUs) == 0 || m.CPUs[0].IdleNs+m.CPUs[0].UserNs == 0 {
		t.Errorf("CPUs %+v", m.CPUs)
	}
	if again, err := readOnce(os.Getpid()); err != nil || m.BootID == "" || again.BootID != m.BootID {
		t.Errorf("boot ID %q and then %q (%v), want one and the same", m.BootID, again.BootID, err)
	}
	if len(m.CPUSet) == 0 {
		t.Error("no CPU set")
	}
	if _, found := m.Interfaces.Of("lo"); !found {
		t.Errorf("no loopback among %v", m.Interfaces)
	}
}

func TestReadOfNobody(t *testing.T) {
	if m, err := readOnce(1 << 22); err == nil { // above the kernel's largest pid
		t.Errorf("Read of a pid that cannot be = %+v, want an error", m)
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 99 0 0"
	got, ok := parseStat([]byte(line))
	want := stat{parent: 7, userNs: 110e6, systemNs: 120e6, waitedUserNs: 130e6, waitedSystemNs: 140e6, began: 99}
	if !ok || got != want {
		t.Errorf("parseStat = %+v, %v; want %+v", got, ok, want)
	}
	for _, torn := range []string{"", "42 (a", "42 (a) S 7 42"} {
		if got, ok := parseStat([]byte(torn)); ok {
			t.Errorf("parseStat(%q) = %+v, want none", torn, got)
		}
	}
}

func TestFieldCannotBeForged(t *testing.T) {
	text := []byte("Name:\tVmRSS: 5\nVmHWM:\t 12 kB\nVmRSS:\t  10 kB\n")
	if got := number(field(text, "\nVmRSS:")); got != 10 {
		t.Errorf("VmRSS = %d, want 10", got)
	}
	if got := field(text, "\nVmSwap:"); got != nil {
		t.Errorf("an absent field is %q, want none", got)
	}
}

func TestBusiestAreKept(t *testing.T) {
	var threads []contract.Thread
	for id := range contract.MaxThreads + 10 {
		threads = append(threads, contract.Thread{ID: id, CPUNs: int64(id)})
	}
	kept := keepBusiest(threads)
	if len(kept) != contract.MaxThreads || kept[0].CPUNs != contract.MaxThreads+9 || kept[len(kept)-1].CPUNs != 10 {
		t.Errorf("kept %d from %d down to %d", len(kept), kept[0].CPUNs, kept[len(kept)-1].CPUNs)
	}
}

func TestScanFindsTheSameChildren(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	child, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{read, nil, nil}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { write.Close(); _, _ = child.Wait() }()
	var tree Tree
	listed := tree.Children(os.Getpid())
	scanned := tree.scan()[os.Getpid()]
	if !slices.Contains(listed, child.Pid) || !slices.Contains(scanned, child.Pid) {
		t.Errorf("child %d: listed %v, scanned %v", child.Pid, listed, scanned)
	}
}

func ownCPU(t *testing.T) int64 {
	t.Helper()
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &clock); err != nil {
		t.Fatal(err)
	}
	return clock.Nano()
}

// readOnce takes one reading of the tree under pid and of its host.
func readOnce(pid int) (contract.Meter, error) {
	r, err := NewReader(pid)
	if err != nil {
		return contract.Meter{}, err
	}
	return r.Read(nil)
}

func TestAGlanceIsOfTheTreesCPUAndMemory(t *testing.T) {
	r, err := NewReader(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Glance(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Process; p.CPUNs <= 0 || p.RSSBytes < 1<<20 || p.Processes < 1 || p.Threads < 1 {
		t.Errorf("a glance at this process tells %+v", p)
	}
}
