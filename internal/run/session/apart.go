package session

import (
	"slices"
	"strconv"

	"netdyno/internal/record"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/study"
)

// apart tells whether the servers of different arms, which run on, are different ones: where
// one process serves two arms, only a reading at each change of the arm tells whose its CPU
// time was. What cannot be looked at, on another host, is not metered either.
func apart(trials []record.Trial) bool {
	if !slices.ContainsFunc(trials, func(t record.Trial) bool { return t.Arm != trials[0].Arm }) {
		return false // and nobody is looked for
	}
	arms, seen := map[string]string{}, map[string]bool{} // by address and by process
	for _, t := range trials {
		if seen[t.Arm] {
			continue
		}
		seen[t.Arm] = true
		for _, name := range namesOf(t) {
			if arms[name] != "" {
				return false
			}
			arms[name] = t.Arm
		}
	}
	return true
}

// Roams tells whether clients change places with the servers, as the kernel moves those.
func (s *Session) Roams() bool {
	at := s.Facts.Standing
	return s.apart && at != nil && at.Free && !at.Pinned
}

// namesOf are what tells the server of a trial from others: where it answers, and its processes.
func namesOf(t record.Trial) []string {
	work, err := study.Decode(t.Levels)
	if err != nil {
		return nil // the trial says why
	}
	address, socket := work.ServerOptions["address"], work.ServerOptions["socket"]
	found, err := processesAt(address, work.ServerOptions["wire"])
	if socket != "" {
		found, err = meter.AttachableSocket(socket)
	}
	if err != nil {
		found.PIDs = nil // it has no processes here
	}
	all := []string{address + socket}
	for _, pid := range found.PIDs {
		all = append(all, strconv.Itoa(pid))
	}
	return all
}

// once leaves the baseline's second appearance out of each block.
func once(trials []record.Trial) []record.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Repeat })
}
