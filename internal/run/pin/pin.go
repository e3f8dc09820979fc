// Package pin holds servers that others started on some CPUs for a time: every thread of
// their processes, each of which gets back the CPUs that it had.
//
// Source: sched_setaffinity(2): each thread has a set of its own, and what it starts inherits it.
package pin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/meter/serving"
	"netdyno/internal/run/meter/usage"
)

// Servers are processes that others started, with what they start. One goroutine uses it.
type Servers struct {
	Had map[int][]int // CPUs that each thread might use when it was met

	account *usage.Others
	cpus    []int // that they are held on
}

// Meet finds the threads of processes.
func Meet(pids []int) (*Servers, error) {
	account, err := usage.NewOthers(pids)
	if err != nil {
		return nil, err
	}
	s := &Servers{Had: map[int][]int{}, account: account}
	return s, s.each(func(_, thread int) (bool, error) {
		s.Had[thread] = cpuset.Of(thread)
		return false, nil
	})
}

// Pin holds every thread on the CPUs. After an error each has those again that it had.
func (s *Servers) Pin(cpus []int) error {
	s.cpus = cpus
	err := s.each(func(pid, thread int) (bool, error) {
		had := cpuset.Of(thread)
		if slices.Equal(had, cpus) { // or one that is held has started it
			return false, nil
		}
		if s.Had[thread] == nil {
			s.Had[thread] = had
		}
		err := cpuset.Pin(thread, cpus)
		if now := cpuset.Of(thread); err == nil && now != nil && !slices.Equal(now, cpus) {
			err = fmt.Errorf("it has got %s only", cpuset.Format(now))
		}
		if err != nil {
			err = fmt.Errorf("hold %s (process %d) on CPU %s: %w; its user or root may, on the CPUs of its cpuset", serving.Executable(pid), pid, cpuset.Format(cpus), err)
		}
		return true, err
	})
	if err != nil {
		err = errors.Join(err, s.Restore())
	}
	return err
}

// Restore gives every thread the CPUs that it had. One that was started meanwhile and still
// runs where it was held gets those of its process, or of the process that started that one.
func (s *Servers) Restore() (failed error) {
	err := s.each(func(pid, thread int) (bool, error) {
		now, had := cpuset.Of(thread), s.Had[thread]
		for at := pid; had == nil && at > 0 && slices.Equal(now, s.cpus); at = usage.Parent(at) {
			had = s.Had[at] // of its first thread
		}
		if had == nil || slices.Equal(now, had) {
			return false, nil
		}
		failed = errors.Join(failed, cpuset.Pin(thread, had))
		return true, nil
	})
	if errors.Is(err, usage.ErrEnded) {
		err = nil
	}
	return errors.Join(failed, err)
}

// each visits every thread once, and then those that were started meanwhile, until none was
// changed.
func (s *Servers) each(visit func(pid, thread int) (changed bool, err error)) error {
	seen := map[int]bool{}
	for again := true; again; {
		again = false
		if _, err := s.account.Read(); err != nil {
			return err
		}
		for _, pid := range s.account.Processes() {
			tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task") // none where it has ended
			for _, task := range tasks {
				thread, _ := strconv.Atoi(task.Name()) // all are numbers
				if seen[thread] {
					continue
				}
				seen[thread] = true
				changed, err := visit(pid, thread)
				if err != nil {
					return err
				}
				again = again || changed
			}
		}
	}
	return nil
}

// Held is what Guard says once servers are held.
const Held = "held"

// Guard holds servers on CPUs until in ends. It says Held on out, or in a line why it cannot.
// Its process outlives the one that has the other end of in, however that ends.
func Guard(pids, cpus []int, in io.Reader, out io.Writer) error {
	s, err := Meet(pids)
	if err == nil {
		err = s.Pin(cpus)
	}
	if err != nil {
		fmt.Fprintln(out, strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	fmt.Fprintln(out, Held)
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, s.Restore())
}
