package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// tries is how often the bench lets workers fail to get ready before it takes the
// next trial's failure for granted.
const tries = 2

// notInstalled is in the reason of a worker whose program is missing. Then no load
// makes a difference.
const notInstalled = " is not installed: "

// givenUp are the trials whose workers did not get ready, by what they had in
// common: in all the time that they had, or twice for the same reason. A server
// that says nothing says nothing in the next block either, and 15 s for each trial
// make a night. A resumed run tries again.
type givenUp map[string][]notReadied

// notReadied is a trial whose workers did not get ready.
type notReadied struct {
	plan    record.Trial
	failure record.Failure
}

// known returns the failure of a trial that need not be tried; nil for all others.
func (g givenUp) known(plan record.Trial) *failure {
	for _, key := range []string{endsOf(plan), levelsOf(plan)} {
		if before := g[key]; len(before) >= tries {
			last := before[len(before)-1]
			f := last.failure
			f.Text = fmt.Sprintf("not tried again after %s, which ended with: %s", trialsText(before), f.Text)
			return &failure{Failure: f}
		}
	}
	return nil
}

func trialsText(them []notReadied) string {
	ids := each.Of(them, func(v notReadied) string { return v.plan.ID })
	return strings.Join(ids, " and ")
}

// learn takes up how a trial ended. A trial that got ready proves its levels
// sound.
func (g givenUp) learn(plan record.Trial, f *record.Failure) {
	key := levelsOf(plan)
	switch {
	case f == nil || f.State == "ready" || f.State == "running" || f.State == "window":
		delete(g, key)
		delete(g, endsOf(plan))
		return
	case f.Worker == "" || !slices.Contains(lasting, f.Kind):
		return
	case strings.Contains(f.Text, saidNothing), strings.Contains(f.Text, notInstalled):
		key = endsOf(plan) // whatever else the trial asks of it
	}
	if before := g[key]; len(before) > 0 && !alike(before[0].failure, *f) {
		g[key] = nil
	}
	g[key] = append(g[key], notReadied{plan, *f})
}

// lasting are the kinds of failure that the next block would repeat. A peer that refused
// or closed a connection may have been short of something for a moment.
var lasting = []contract.ErrorKind{contract.Timeout, contract.SetupFailed, contract.Unsupported}

// alike tells whether two workers failed in the same way. What a timeout says may
// hold a count that differs; its kind and worker are enough.
func alike(a, b record.Failure) bool {
	return a.Worker == b.Worker && a.Kind == b.Kind && (a.Kind == contract.Timeout || a.Text == b.Text)
}

// endsOf identifies the ends of a trial and how they are set up, whatever the load.
func endsOf(plan record.Trial) string {
	return text(plan.Levels, func(factor string) bool {
		return slices.Contains([]string{"server", "client", "transport", "tls", "build", record.PathFactor, record.NetworkFactor, study.ServerHost, study.ClientHost}, factor) || strings.HasPrefix(factor, "opt.server.")
	})
}

// levelsOf identifies a trial but for its block.
func levelsOf(plan record.Trial) string {
	return text(plan.Levels, func(string) bool { return true })
}

func text(levels map[string]string, take func(factor string) bool) string {
	var b strings.Builder
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		if take(factor) {
			fmt.Fprintf(&b, "%q=%q ", factor, levels[factor])
		}
	}
	return b.String()
}

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
			return &failure{Failure: f}
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
