package usage

import (
	"os"
	"strconv"
	"strings"
)

// maxFiles bounds the open files of one process that are looked at.
const maxFiles = 1 << 17

// Sockets returns the inodes of the sockets that the tree holds now, further
// roots included, of every kind of socket. It costs a microsecond or two for
// each open file, so it has no place beside a running load. Of a process whose
// files this one may not see it returns none.
func (r *Reader) Sockets(more []int) map[uint32]bool {
	inodes := map[uint32]bool{}
	r.tree.walk(append([]int{r.pid}, more...), func(pid int, _ []int) {
		directory := "/proc/" + strconv.Itoa(pid) + "/fd/"
		d, err := os.Open(directory)
		if err != nil {
			return
		}
		defer d.Close()
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
				inodes[uint32(inode)] = true
			}
		}
	})
	return inodes
}
