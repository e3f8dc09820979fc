package tcpinfo

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxFiles bounds the open files of one process that are looked at.
const maxFiles = 1 << 17

// Held adds the inodes of the sockets that a process holds open, of every kind
// of socket. It costs a microsecond or two for each open file. Of a process that
// has ended, or whose files the caller may not see, it adds none. Any goroutine
// may call it. Source: proc(5), /proc/pid/fd.
func Held(pid int, to map[uint32]bool) {
	directory := "/proc/" + strconv.Itoa(pid) + "/fd/"
	d, err := os.Open(directory)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }() // it was only read
	names, err := d.Readdirnames(maxFiles)
	if err != nil {
		return
	}
	for _, name := range names {
		link, err := os.Readlink(directory + name)
		if err != nil {
			continue // closed meanwhile
		}
		number, isSocket := strings.CutPrefix(strings.TrimSuffix(link, "]"), "socket:[")
		if inode, err := strconv.ParseUint(number, 10, 32); isSocket && err == nil {
			to[uint32(inode)] = true
		}
	}
}

// mostProcesses bounds the descendants of one process that are looked at.
const mostProcesses = 1 << 10

// Descendants returns the processes that a process has started, and theirs. Of one that
// has ended it returns none: they are another's then. Source: proc(5),
// /proc/pid/task/tid/children.
func Descendants(pid int) (all []int) {
	for next := []int{pid}; len(next) > 0 && len(all) < mostProcesses; {
		children := childrenOf(next[0])
		next, all = append(next[1:], children...), append(all, children...)
	}
	return all
}

func childrenOf(pid int) (children []int) {
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil // the pattern is a good one
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
