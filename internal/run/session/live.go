package session

import (
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// liveApart is how far two writes are apart at the least: what one client tells every
// 200 ms is written each time, what several tell not more than twice as often.
const liveApart = 100 * time.Millisecond

// live leaves in the run's directory how far its trial is, for whoever follows the
// run. No measurement depends on it: an error ends it and is nobody's.
type live struct {
	mu      sync.Mutex
	file    *record.LiveWriter // nil when it cannot be written
	now     record.Live
	written time.Time
	left    func() (least, most time.Duration) // of the run; nil where nobody estimates it
}

func newLive(path string, left func() (least, most time.Duration)) *live {
	file, err := record.CreateLive(path)
	if err != nil {
		return &live{}
	}
	return &live{file: file, left: left}
}

// observe takes one event of the bench.
func (l *live) observe(e bench.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Record != nil:
		return // it is in the records
	case e.Tick == nil:
		l.now = record.Live{Trial: e.Trial.ID, BeganAt: time.Now().UTC()}
	default:
		if e.Client < 0 || e.Client >= record.MaxLiveClients {
			return
		}
		for len(l.now.Ticks) <= e.Client {
			l.now.Ticks = append(l.now.Ticks, contract.Tick{})
		}
		l.now.Ticks[e.Client] = *e.Tick
		if time.Since(l.written) < liveApart {
			return
		}
	}
	l.writeState()
}

func (l *live) writeState() {
	if l.file == nil {
		return
	}
	l.written = time.Now()
	if l.left != nil {
		least, most := l.left()
		l.now.EndsFrom, l.now.EndsBy = l.written.Add(least).UTC(), l.written.Add(most).UTC()
	}
	if err := l.file.Write(l.now); err != nil {
		_ = l.file.Remove() // what cannot be written may not be removable either
		l.file = nil
	}
}

// end takes the file away.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Remove() // a file that stays is replaced by the next run
		l.file = nil
	}
}
