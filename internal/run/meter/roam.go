package meter

import (
	"math/rand/v2"
	"time"

	"netdyno/internal/run/cpuset"
)

// roamsAfter is how long a worker stays on its CPUs at least, and half as long as at most.
const roamsAfter = 100 * time.Millisecond

// roam has the worker change between its two sets of CPUs, at random times, until it is told to
// stay. A server that the kernel may move stays beside its client, or apart from it, for
// seconds, which costs it another time; where clients change their CPUs it is now the one and
// now the other, whichever server is measured.
func (s *session) roam(o Options) (stay func()) {
	told, stays := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stays)
		for sets := [][]int{o.Roam, o.CPUs}; len(o.Roam) > 0; sets[0], sets[1] = sets[1], sets[0] {
			select {
			case <-time.After(roamsAfter + rand.N(roamsAfter)):
				_ = cpuset.PinProcess(s.cmd.Process.Pid, sets[0]) // one that is ending cannot be moved
			case <-told:
				return
			}
		}
	}()
	return func() {
		close(told)
		<-stays
	}
}
