package usage

import (
	"errors"
	"maps"
	"os"
	"slices"

	"netdyno/internal/contract"
)

// Others reads processes that the caller did not start, and so cannot wait for, with
// their descendants. A process stays in the account from its first reading until it ends.
// When a process ends, its parent's counters take in its CPU time if the parent waited
// for it; an ended process that had no such parent is lost, and Lost counts it. One
// goroutine may use an Others.
type Others struct {
	reader Reader
	known  map[int]other // by PID
	met    map[int]other // of the reading under way
	lost   int
}

type other struct {
	parent int
	began  int64
	waits  bool // for its children: the kernel adds them to its account
}

// NewOthers returns the account of the processes with their descendants. A process that
// is an ancestor of the caller counts without its descendants.
func NewOthers(pids []int) (*Others, error) {
	reader, err := NewReader(0)
	if err != nil {
		return nil, err
	}
	o := &Others{reader: *reader, known: map[int]other{}}
	o.reader.tree.leaves = map[int]bool{}
	o.reader.met = func(pid int, s stat) { o.met[pid] = other{s.parent, s.began, o.waits(pid)} }
	for pid := os.Getpid(); pid > 0; {
		o.reader.tree.leaves[pid] = true
		s, ok := o.reader.tree.file.stat(pid)
		if !ok {
			break
		}
		pid = s.parent
	}
	for _, pid := range pids {
		o.Add(pid)
	}
	return o, nil
}

// Add adds a process that is not in the account yet. It reports whether the process was
// new and lives.
func (o *Others) Add(pid int) bool {
	_, known := o.known[pid]
	s, lives := o.reader.tree.file.stat(pid)
	if known || !lives {
		return false
	}
	o.known[pid] = other{s.parent, s.began, true}
	return true
}

// Processes returns those that the latest reading met, or that were added since.
func (o *Others) Processes() []int { return slices.Collect(maps.Keys(o.known)) }

// Lost returns how many processes ended so far whose CPU time is in no account; of those
// that no reading met, one for each reading before which there may have been some.
func (o *Others) Lost() int { return o.lost + o.reader.Unseen() }

// ErrEnded says that none of the processes lives.
var ErrEnded = errors.New("its processes have ended")

// Read takes a reading as Reader.Read does.
func (o *Others) Read() (contract.Meter, error) {
	var roots []int
	for pid, before := range o.known {
		if s, lives := o.reader.tree.file.stat(pid); lives && s.began == before.began {
			roots = append(roots, pid)
		}
	}
	if len(roots) == 0 {
		return contract.Meter{}, ErrEnded
	}
	slices.Sort(roots)
	o.met = make(map[int]other, len(o.known))
	o.reader.pid = roots[0]
	m, err := o.reader.Read(roots[1:])
	if err != nil {
		return m, err
	}
	for pid, before := range o.known {
		if now, lives := o.met[pid]; lives && now.began == before.began {
			continue
		}
		if parent, lives := o.met[before.parent]; !lives || !parent.waits {
			o.lost++
		}
	}
	o.known = o.met
	return m, nil
}

// waits tells whether a process does not ignore the end of its children: of ignored
// ones the kernel keeps no account.
func (o *Others) waits(pid int) bool {
	text, err := o.reader.tree.file.process(pid, "status")
	return err == nil && !ignoresChildren(text)
}
