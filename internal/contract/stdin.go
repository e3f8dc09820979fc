package contract

import (
	"os"
	"syscall"
)

// Stdin returns the process's standard input in a form whose reads wait in
// Go's poller. A blocking read would wait in a system call that holds its P:
// what it has just handed on then waits until the runtime notices, up to 10 ms
// later, and a mark would be answered that late. Only pipes and sockets are
// changed: a terminal is shared with others.
func Stdin() *os.File {
	var stat syscall.Stat_t
	if syscall.Fstat(0, &stat) != nil {
		return os.Stdin
	}
	if kind := stat.Mode & syscall.S_IFMT; kind != syscall.S_IFIFO && kind != syscall.S_IFSOCK {
		return os.Stdin
	}
	if syscall.SetNonblock(0, true) != nil {
		return os.Stdin
	}
	return os.NewFile(0, "/dev/stdin") // non-blocking, so that it goes to the poller
}
