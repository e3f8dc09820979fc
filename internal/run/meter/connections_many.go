package meter

import (
	"errors"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// sample says which of the connections a reading adds up.
type sample struct {
	most int // sockets that a reading takes; 0 before any was met
	of   int // the worker's connections, where those are a part of them; else 0

	allowed time.Duration // for a reading
}

// dump returns the sockets of this reading. The first reading that meets any walks past
// them all, and settles whether later ones may: those take a sample, the first of the
// kernel's table, where that would last longer than allowed. held is asked then, and
// replaced by its answer.
func (c *connections) dump(held *func() map[uint32]bool) ([]tcpinfo.Socket, error) {
	if c.part.most > 0 {
		return c.first()
	}
	var met []uint32
	var sockets []tcpinfo.Socket
	begun := time.Now()
	err := c.query.Walk(func(s *tcpinfo.Socket) error {
		if met = append(met, s.Inode); len(met) > mostMet {
			return tcpinfo.ErrMany
		}
		if len(met) <= contract.MaxSockets {
			sockets = append(sockets, *s)
		}
		return nil
	})
	if err != nil || len(met) == 0 {
		return nil, err
	}
	took, allowed := time.Since(begun), c.part.allowed
	c.part.most = max(contract.MaxSockets, 2*len(met)) // a few may join before the window opens
	if len(met) <= contract.MaxSockets {
		return sockets, nil
	}
	if took > allowed {
		its := (*held)()
		*held = func() map[uint32]bool { return its }
		c.part.most = max(contract.MaxSockets, int(float64(len(met))*allowed.Seconds()/took.Seconds()))
		for _, inode := range met {
			if its[inode] {
				c.part.of++
			}
		}
	}
	return c.first()
}

// first returns the sockets of a sample, or all. More of them than were met before the load
// are an error where all are read.
func (c *connections) first() ([]tcpinfo.Socket, error) {
	q := c.query
	q.Max = c.part.most
	sockets, err := q.Dump()
	if c.part.of > 0 && errors.Is(err, tcpinfo.ErrMany) {
		err = nil
	}
	return sockets, err
}

// mostMet bounds the sockets that the first reading walks past, which takes 2 µs for each.
const mostMet = 1 << 20

// allowedFor returns how long a reading of the connections may take at each edge of a
// window: half a percent of it, within bounds.
func allowedFor(window time.Duration) time.Duration {
	const share, least, most = 200, 5 * time.Millisecond, 50 * time.Millisecond
	return min(max(window/share, least), most)
}
