package null

import (
	"math/rand/v2"
	"slices"
	"sync"

	"netdyno/internal/work/load"
)

// queue pretends some servers with one queue in front of them, whose capacity is known:
// with a fixed service time D/D/c or M/D/c, with an exponential one M/M/c. Any loop may
// call it; whoever asks first is served first.
type queue struct {
	mutex   sync.Mutex
	service int64   // ns, the mean
	free    []int64 // when each server is idle again
	random  *rand.Rand
}

// newQueue makes the servers that options ask for; nil where none are asked for.
func newQueue(o load.Options, seed uint64) *queue {
	q := &queue{service: o.Int("service"), free: make([]int64, o.Int("slots"))}
	if o.Text("law") == "exponential" {
		q.random = rand.New(rand.NewPCG(seed, 1))
	}
	if len(q.free) == 0 && q.random == nil {
		return nil
	}
	return q
}

// completion is when an exchange sent now completes.
func (q *queue) completion(now int64) int64 {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	service := q.service
	if q.random != nil {
		service = int64(q.random.ExpFloat64() * float64(q.service))
	}
	if len(q.free) == 0 { // nobody waits
		return now + service
	}
	first := slices.Index(q.free, slices.Min(q.free))
	q.free[first] = max(now, q.free[first]) + service
	return q.free[first]
}
