package serve

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"netdyno/internal/read/follow"
	"netdyno/internal/read/report"
)

const (
	lookEvery   = 500 * time.Millisecond // however many browsers ask for a run's page
	mostWatched = 16                     // runs; the one that was asked for longest ago is left first
)

// watches are the runs whose pages were asked for, the latest at the end.
type watches struct {
	results *follow.Results

	mu  sync.Mutex
	all []*watch
}

// watch is one run and its page as it was when it was last looked at.
type watch struct {
	name string
	run  *follow.Run
	at   time.Time
	page []byte
}

// pageOf is the page of a run as it is now. An error says that there is no such run, or that
// it cannot be followed any more.
func (w *watches) pageOf(name string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, err := w.of(name)
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.Sub(one.at) >= lookEvery {
		var page bytes.Buffer
		seen, err := one.run.Look(now)
		if err == nil {
			err = report.LivePage(&page, seen)
		}
		if err != nil {
			w.leave(len(w.all) - 1)
			return nil, err
		}
		one.at, one.page = now, page.Bytes()
	}
	return one.page, nil
}

// of takes a run's watch to the end of the list. The caller holds the lock.
func (w *watches) of(name string) (*watch, error) {
	if i := slices.IndexFunc(w.all, func(one *watch) bool { return one.name == name }); i >= 0 {
		one := w.all[i]
		w.all = append(slices.Delete(w.all, i, i+1), one)
		return one, nil
	}
	run, err := w.results.Follow(name)
	if err != nil {
		return nil, err
	}
	if len(w.all) == mostWatched {
		w.leave(0)
	}
	one := &watch{name: name, run: run}
	w.all = append(w.all, one)
	return one, nil
}

func (w *watches) leave(i int) {
	w.all[i].run.Close()
	w.all = slices.Delete(w.all, i, i+1)
}

// close leaves every run.
func (w *watches) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.all) > 0 {
		w.leave(0)
	}
}
