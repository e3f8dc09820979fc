package meter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// oomCount is how many processes the kernel had killed for lack of memory at one
// moment: of the worker's memory cgroup, and of the whole host.
type oomCount struct {
	group   string // path of the cgroup, as the kernel names it; empty when its count cannot be read
	inGroup int64
	onHost  int64
	err     error // why the host's count cannot be read
}

// readOOM reads the counts of the calling process's cgroup, which is the worker's.
// Source: Linux kernel, Documentation/admin-guide/cgroup-v2.rst, memory.events;
// cgroup-v1/memory.rst, memory.oom_control; oom_kill of /proc/vmstat since Linux 4.13.
func readOOM() oomCount {
	var c oomCount
	own, _ := os.ReadFile("/proc/self/cgroup") // without it the host's count must do
	var file string
	c.group, file = memoryGroupOf(string(own))
	var err error
	if c.inGroup, err = counterIn(file); err != nil {
		c.group = "" // a container may not show its own
	}
	c.onHost, c.err = counterIn("/proc/vmstat")
	return c
}

// memoryGroupOf finds in /proc/PID/cgroup the memory cgroup and the file that
// counts its kills.
func memoryGroupOf(text string) (group, file string) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) != 3:
		case strings.Contains(","+parts[1]+",", ",memory,"):
			return parts[2], filepath.Join("/sys/fs/cgroup/memory", parts[2], "memory.oom_control")
		case parts[1] == "":
			group, file = parts[2], filepath.Join("/sys/fs/cgroup", parts[2], "memory.events")
		}
	}
	return group, file
}

// counterIn returns the counter oom_kill of a file of the kernel's.
func counterIn(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			return strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no counter oom_kill", file)
}

// since says what the kernel has counted since an earlier count; empty when it
// counted no kill. A cgroup's count is evidence; the host's is a hint, and matters
// for a worker that was killed alone.
func (c oomCount) since(before oomCount, killed bool) string {
	switch {
	case c.group != "" && c.group == before.group && c.inGroup > before.inGroup:
		return fmt.Sprintf("the kernel killed %d process(es) of memory cgroup %s for lack of memory", c.inGroup-before.inGroup, c.group)
	case !killed:
	case c.err == nil && before.err == nil && c.onHost > before.onHost:
		return fmt.Sprintf("the kernel killed %d process(es) of this host for lack of memory meanwhile", c.onHost-before.onHost)
	case c.err != nil:
		return fmt.Sprintf("whether the kernel killed it for lack of memory is unknown: %v", c.err)
	}
	return ""
}
