package worker

import "golang.org/x/sys/unix"

// raiseDescriptors lifts the soft limit on open files to the hard one. Go does
// so by itself only until a program sets the limit; a launcher may have.
func raiseDescriptors() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= limit.Max {
		return
	}
	limit.Cur = limit.Max
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // too few descriptors is reported where they run out
}
