package follow

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
)

// Run follows one run. One goroutine may use it.
type Run struct {
	results *Results
	name    string
	dir     *os.Root
	file    *os.File // its records
	tail    record.Tail
	written []record.Trial // the plan
	plan    []record.Trial // as it is run, by what was decided so far

	found finding.Findings
	sound bool      // found holds something
	of    int       // records that found is of
	again time.Time // before which finding would take too much of the machine's time
	was   State     // at the look before; "" at the first
	ticks ticking
	ends  [2]time.Time // of the run, as it said last: from, and by
}

// Snapshot is a run as it is at one moment. Who gets one must not change it.
type Snapshot struct {
	Header record.Header
	Path   string // of its directory
	Progress
	Left     time.Duration     // that the rest takes, at most, as the run estimates it; 0 when it is not known
	Found    *finding.Findings // of the records so far; nil when there are too few
	FoundOf  int               // how many records Found is of
	Problems int               // damaged lines
	Now      *Now              // the trial under way; nil between trials

	LeftLeast time.Duration // where the next look ends it
}

// Follow begins to follow a run. Close ends it.
func (r *Results) Follow(name string) (*Run, error) {
	dir, file, err := r.openRecords(name)
	if err != nil {
		return nil, err
	}
	return &Run{results: r, name: name, dir: dir, file: file}, nil
}

// Close closes the run's files.
func (r *Run) Close() {
	r.file.Close()
	r.dir.Close()
}

// findingShare bounds the CPU time that finding takes: one part in so many. What is
// followed is a measurement on this machine, as a rule. Waiting for a CPU costs the
// measurement nothing, and does not count: a busy machine would be told late.
const findingShare = 200

// Look reads what is new. An error says that the run cannot be followed any more: its
// directory is gone, or another run's files are in it.
func (r *Run) Look(now time.Time) (Snapshot, error) {
	if err := r.grow(); err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{
		Header: r.tail.Header, Path: r.results.Path(r.name), Problems: len(r.tail.Problems),
		Progress: progressOf(r.tail.Header, r.plan, r.tail.Records, record.BeingWritten(r.file)),
	}
	if s.Progress.State == Running {
		said := r.live()
		s.Now = r.ticks.look(said, r.plan)
		if said != nil {
			r.ends = [2]time.Time{said.EndsFrom, said.EndsBy}
		}
		s.LeftLeast, s.Left = max(0, r.ends[0].Sub(now)), max(0, r.ends[1].Sub(now))
	}
	r.find(s.State, now)
	if r.sound {
		s.Found, s.FoundOf = &r.found, r.of
	}
	return s, nil
}

// grow takes in new records.
func (r *Run) grow() error {
	there, err := r.dir.Stat(record.RecordsFile)
	if err != nil {
		return fmt.Errorf("%s is gone: %w", r.results.Path(r.name), err)
	}
	held, err := r.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(there, held) {
		return fmt.Errorf("%s was replaced", record.RecordsFile)
	}
	if err := r.tail.Read(r.file, held.Size()); err != nil {
		return fmt.Errorf("read %s: %w", record.RecordsFile, err)
	}
	if r.written == nil {
		if r.written, err = readPlan(r.dir); err != nil {
			return err
		}
	}
	r.plan, _ = r.tail.HoldTo(r.written)
	return nil
}

// find finds what the records so far say, unless they were read already or reading would
// take too much time: now and then while the run goes on, and once more at its end. The
// first look at a run leaves find out, so that the page is there soon; for a run that has
// ended the report says what was found.
func (r *Run) find(state State, now time.Time) {
	was := r.was
	r.was = state
	ended := state != Running
	if was != Running || len(r.tail.Records) == r.of || !ended && now.Before(r.again) {
		return
	}
	before := cpuTime()
	found, err := finding.Find(r.tail.Header, r.plan, r.tail.Records)
	r.again = now.Add(findingShare * (cpuTime() - before))
	r.of = len(r.tail.Records)
	if err == nil { // else the report says why
		r.found, r.sound = found, true
	}
}

// cpuTime is what this process has taken of the CPUs.
func cpuTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // cannot fail for one's own process
	return time.Duration(t.Nano())
}

// live reads what the run says of its trial; nil when it says nothing now.
func (r *Run) live() *record.Live {
	f, err := input.OpenIn(r.dir, record.LiveFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	l, err := record.ReadLive(f)
	if err != nil {
		return nil
	}
	return &l
}

// Now is the trial under way.
type Now struct {
	Trial record.Trial
	Began time.Time
	Rate  float64             // exchanges per second over the clients that told twice; 0 for none yet
	Times *contract.TickTimes // since the tick before, of the only client where it tells them; else nil
}

// ticking turns the clients' counters into rates.
type ticking struct {
	trial string
	last  []contract.Tick // by client
	rate  []float64
	held  *Now
}

// look takes in what the run says now; nothing when l is nil, which it also is for
// the instant in which the file is written.
func (t *ticking) look(l *record.Live, plan []record.Trial) *Now {
	if l == nil {
		return t.held
	}
	if l.Trial != t.trial || t.held != nil && !l.BeganAt.Equal(t.held.Began) { // it may be made again
		*t = ticking{trial: l.Trial}
	}
	now := &Now{Began: l.BeganAt}
	for _, p := range plan {
		if p.ID == l.Trial {
			now.Trial = p
		}
	}
	for len(t.last) < len(l.Ticks) {
		t.last, t.rate = append(t.last, contract.Tick{}), append(t.rate, 0)
	}
	for i, tick := range l.Ticks {
		if before := t.last[i]; before.AtNs > 0 && tick.AtNs > before.AtNs {
			t.rate[i] = record.Growth(before.Exchanges, tick.Exchanges) / record.Growth(before.AtNs, tick.AtNs) * 1e9
		}
		t.last[i] = tick
		now.Rate += t.rate[i]
		if len(l.Ticks) == 1 && tick.Times != nil && tick.Times.Count > 0 {
			now.Times = tick.Times
		}
	}
	t.held = now
	return now
}
