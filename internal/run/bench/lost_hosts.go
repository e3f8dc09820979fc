package bench

import (
	"fmt"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// partners is with how many partners a host's trials must have failed, one after the
// other, until its others are not tried: one that is gone costs every round the time
// that a worker has to get ready. A partner of it succeeds with others in between.
const partners = 3

// lostHosts are the hosts of a mesh whose last trials failed, whoever their partner
// was, by name.
type lostHosts map[string][]notReadied

// known returns the failure of a trial that has a lost host; nil for all others.
func (l lostHosts) known(plan record.Trial) *failure {
	for _, host := range endsIn(plan) {
		if before := l[host]; len(before) >= partners {
			f := before[len(before)-1].failure
			f.Text = fmt.Sprintf("host %s was given up for this block after %s, with other partners each, which ended with: %s", host, trialsText(before), f.Text)
			return &failure{f}
		}
	}
	return nil
}

// learn takes up how a trial of a mesh ended.
func (l lostHosts) learn(plan record.Trial, f *record.Failure) {
	for _, host := range endsIn(plan) {
		switch {
		case f == nil:
			delete(l, host)
		case slices.Contains([]contract.ErrorKind{contract.Timeout, contract.SetupFailed, contract.Peer}, f.Kind) && !l.met(host, plan):
			l[host] = append(l[host], notReadied{plan, *f})
		}
	}
}

// met tells whether a host has failed with this partner already.
func (l lostHosts) met(host string, plan record.Trial) bool {
	return slices.ContainsFunc(l[host], func(v notReadied) bool {
		return slices.ContainsFunc(endsIn(v.plan), func(other string) bool { return other != host && slices.Contains(endsIn(plan), other) })
	})
}

// endsIn returns the hosts of a trial of a mesh; none of any other.
func endsIn(plan record.Trial) []string {
	if plan.Round == 0 {
		return nil
	}
	return []string{plan.Levels[study.ServerHost], plan.Levels[study.ClientHost]}
}

// untried is the record of a trial whose failure is known without trying.
func untried(plan record.Trial, known *failure) record.Record {
	r := record.Record{Schema: record.Schema, Trial: plan, StartedAt: time.Now().UTC(), Noise: record.Noise{LoadAverage: loadAverage()}}
	r.Outcome, r.Failure = outcome(known)
	return r
}
