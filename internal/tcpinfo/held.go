package tcpinfo

import (
	"os"
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
