package serve

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/read/follow"
	"netdyno/internal/read/report"
)

// lookEvery is how often a run is looked at that somebody follows, as often as a
// terminal redraws its line.
const lookEvery = 500 * time.Millisecond

// feeds are the runs that somebody follows. One goroutine reads each of them for all
// who do.
type feeds struct {
	ctx     context.Context //nolint:containedctx // the server's whole time
	results *follow.Results
	watches sync.WaitGroup

	mu        sync.Mutex
	followers int
	byName    map[string]*feed
}

func newFeeds(ctx context.Context, results *follow.Results) *feeds {
	return &feeds{ctx: ctx, results: results, byName: map[string]*feed{}}
}

// wait returns when no run is read any more, after the context has ended.
func (f *feeds) wait() { f.watches.Wait() }

var errFull = errors.New("too many followers")

// join adds a follower to a run; leave takes it away again.
func (f *feeds) join(name string) (*feed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers >= maxFollowers {
		return nil, errFull
	}
	one := f.byName[name]
	if one == nil {
		run, err := f.results.Follow(name)
		if err != nil {
			return nil, err
		}
		ctx, stop := context.WithCancel(f.ctx)
		one = &feed{changed: make(chan struct{}), stop: stop}
		f.byName[name] = one
		f.watches.Go(func() {
			defer run.Close()
			one.watch(ctx, run)
		})
	}
	f.followers++
	one.followers++
	return one, nil
}

// linger is how long a run is read on without a follower: the one whose page was just
// made asks for its events next.
const linger = 10 * time.Second

func (f *feeds) leave(name string, one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers--
	if one.followers--; one.followers == 0 {
		time.AfterFunc(linger, func() { f.forget(name, one) })
	}
}

// forget ends the reading of a run without followers.
func (f *feeds) forget(name string, one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.followers > 0 {
		return
	}
	one.stop()
	if f.byName[name] == one {
		delete(f.byName, name)
	}
}

// feed is a run's page in its latest state, by parts. Nothing is queued for a follower:
// each takes what has changed since it took something last.
type feed struct {
	followers int // guarded by feeds.mu
	stop      context.CancelFunc

	mu      sync.Mutex
	version int
	head    report.LiveHead
	parts   []change      // in the order of the page
	over    bool          // nothing will change any more
	failed  error         // why the run cannot be read
	changed chan struct{} // closed by the next change
}

// change is a part of the page, the event that brings it, and its version.
type change struct {
	id      string
	text    []byte
	event   []byte
	version int
}

// watch looks at a run until ctx or the run ends.
func (f *feed) watch(ctx context.Context, run *follow.Run) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	shown := map[string]string{}
	for {
		now, err := run.Look(time.Now())
		if err != nil {
			f.fail(err)
			return
		}
		goesOn := now.State == follow.Running || now.State == follow.Listening
		f.publish(report.NewLiveHead(now), changes(now, shown), !goesOn)
		if !goesOn {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// changes renders the parts that show something else than they did.
func changes(now follow.Snapshot, shown map[string]string) []change {
	var all []change
	for _, part := range report.LiveParts() {
		shows := part.Shows(now)
		if before, ok := shown[part.ID]; ok && before == shows {
			continue
		}
		text, err := part.Render(now)
		if err != nil {
			continue // the part stays as it is
		}
		shown[part.ID] = shows
		all = append(all, change{id: part.ID, text: text})
	}
	return all
}

// event writes an event of a stream (WHATWG HTML, 9.2.6): a line of data for each of
// the text's.
func event(name string, text []byte) []byte {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\n")
	for line := range bytes.Lines(text) {
		b.WriteString("data: ")
		b.Write(bytes.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func (f *feed) publish(head report.LiveHead, changes []change, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(changes) == 0 && over == f.over {
		return
	}
	f.head, f.over = head, over
	f.takeChanges(changes)
}

// fail says that the run cannot be read any more.
func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over, f.failed = true, err
	f.takeChanges([]change{{id: "gone", text: []byte(printable.Text(err.Error()))}})
}

// takeChanges puts changes in the place of what the parts were. The caller holds the lock.
func (f *feed) takeChanges(changes []change) {
	f.version++
	for _, c := range changes {
		c.event, c.version = event(c.id, c.text), f.version
		if i := slices.IndexFunc(f.parts, func(p change) bool { return p.id == c.id }); i >= 0 {
			f.parts[i] = c
		} else {
			f.parts = append(f.parts, c)
		}
	}
	f.tell()
}

// tell wakes the followers.
func (f *feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// since returns the events after a version, the version that they lead to, whether
// they are the last ones, and what tells of the next.
func (f *feed) since(version int) (events [][]byte, now int, over bool, next <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, part := range f.parts {
		if part.version > version {
			events = append(events, part.event)
		}
	}
	return events, f.version, f.over, f.changed
}

// page writes the whole page of a run, as soon as it has been read once.
func (f *feed) page(ctx context.Context, b *bytes.Buffer) error {
	for {
		_, version, _, next := f.since(0)
		if version > 0 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return f.failed
	}
	insides := map[string][]byte{}
	for _, part := range f.parts {
		insides[part.id] = part.text
	}
	return report.LivePage(b, f.head, insides)
}
