package usage

import "netdyno/internal/tcpinfo"

// Sockets returns the inodes of the sockets that the tree holds now, further
// roots included, of every kind of socket. It costs a microsecond or two for
// each open file, so it has no place beside a running load. Of a process whose
// files this one may not see it returns none.
func (r *Reader) Sockets(more []int) map[uint32]bool {
	inodes := map[uint32]bool{}
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, _ []int) { tcpinfo.Held(pid, inodes) })
	return inodes
}
