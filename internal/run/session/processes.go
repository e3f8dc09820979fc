package session

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/record"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// mostProcesses bounds those of one end, as the factors do.
const mostProcesses = 1024

// processes returns the numbers of processes of a trial.
type processes = func(record.Trial) (clients, servers string, err error)

// settleProcesses replaces the number of clients or of servers that is left to the hosts
// by a number, and prints the number. A resumed run keeps the numbers that it began with,
// whatever this host allows now.
func (s *Session) settleProcesses() error {
	if !leftToHosts(s.All) {
		return nil
	}
	number, why := s.leastProcesses, "the fewest processes that may have them here"
	var err error
	if s.request.Resume {
		why = "as the run began"
		if number, err = s.begunWith(); err != nil {
			return err
		}
	}
	if s.All, err = study.WithProcesses(s.All, s.saying(why, number)); err != nil {
		return err
	}
	s.Trials = study.Before(s.All, s.Study.Blocks)
	if s.Kinds, err = s.kindsOf(s.Trials); err != nil {
		return err
	}
	return s.ownLimits()
}

func leftToHosts(trials []record.Trial) bool {
	return slices.ContainsFunc(trials, study.Left)
}

// leastProcesses returns the least numbers of processes whose hosts have descriptors
// and ports for a trial's connections. Where no number is enough it is 1, and the
// preflight says what is missing.
func (s *Session) leastProcesses(t record.Trial) (clients, servers string, err error) {
	work, err := study.Decode(t.Levels)
	if err != nil {
		return "", "", err
	}
	most := min(mostProcesses, work.Load.Connections)
	ofClients := func(n int) bool {
		work.Clients = n
		return s.fit(work, func(d *demand) { d.Servers = 0 })
	}
	if t.Levels["clients"] == study.Auto {
		work.Clients = least(most, ofClients)
	}
	ofServers := func(n int) bool {
		work.Servers = n
		return s.fit(work, func(*demand) {})
	}
	if t.Levels["servers"] == study.Auto {
		work.Servers = least(most, ofServers)
	}
	return strconv.Itoa(work.Clients), strconv.Itoa(work.Servers), nil
}

// least returns the least number up to another that is enough, or 1.
func least(most int, enough func(n int) bool) int {
	for n := 1; n <= most; n++ {
		if enough(n) {
			return n
		}
	}
	return 1
}

// fit tells whether every host can do what a trial asks of it, or a part of that.
func (s *Session) fit(work study.Work, part func(*demand)) bool {
	for _, d := range demandsOf(s.site, work) {
		part(&d)
		host := s.site.hosts[slices.IndexFunc(s.site.hosts, func(h rig.Host) bool { return h.Name == d.host })]
		_, few := host.SourcesFor(d.SourceAddresses)
		if few != nil || !doctor.Fits(d.Needs, s.site.facts[d.host]) {
			return false
		}
	}
	return true
}

// begunWith returns the numbers of processes that the run to go on with has in its plan.
func (s *Session) begunWith() (processes, error) {
	dir, err := s.begun()
	if err != nil {
		return nil, err
	}
	before, err := record.ReadTrials(dir.Trials())
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return func(t record.Trial) (clients, servers string, err error) {
		for _, b := range before {
			if b.Arm == t.Arm && b.Cell == t.Cell {
				return b.Levels["clients"], b.Levels["servers"], nil
			}
		}
		return "1", "1", nil // the plans differ, which is refused
	}, nil
}

// saying tells the user what was chosen, once for each number of connections.
func (s *Session) saying(why string, number processes) processes {
	said := map[string]bool{}
	return func(t record.Trial) (clients, servers string, err error) {
		clients, servers, err = number(t)
		text := fmt.Sprintf("%s connections: clients=%s servers=%s, %s", t.Levels["connections"], clients, servers, why)
		if err == nil && !said[text] {
			said[text] = true
			s.request.Say(text)
		}
		return clients, servers, err
	}
}

// holdProcesses enters into what all trials share the numbers that were left to the
// hosts, where all trials have the same.
func holdProcesses(hold map[string]string, trials []record.Trial) {
	for factor, level := range hold {
		if level != study.Auto {
			continue
		}
		same := func(t record.Trial) bool { return t.Levels[factor] == trials[0].Levels[factor] }
		if !slices.ContainsFunc(trials, func(t record.Trial) bool { return !same(t) }) {
			hold[factor] = trials[0].Levels[factor]
		}
	}
}
