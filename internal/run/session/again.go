package session

import "netdyno/internal/record"

// Again decides which trials of a run are made again. The zero value decides for none. One
// goroutine uses it.
type Again struct {
	Disturbed func(record.Record) record.Disturbance // as Judge.Disturbed

	attempts map[string]int // by trial: those that were disturbed and do not count
	spent    int            // all of them
	counted  int            // trials whose record counts
}

// How often a trial is made at most, and how many attempts a run may spend on trials that
// were disturbed: a few, and one for so many trials. A machine that disturbs every trial so
// takes a fifth longer, and ends with the trials as they are.
const (
	mostAttempts    = 3
	spareAttempts   = 3
	trialsAnAttempt = 5
)

// Ask returns what disturbed a trial that is to be made again; the zero value where its
// record counts. It must be asked once for each attempt.
func (a *Again) Ask(r record.Record) (by record.Disturbance) {
	id := r.Trial.ID
	if a.Disturbed != nil && a.attempts[id] < mostAttempts-1 && a.spent < spareAttempts+a.counted/trialsAnAttempt {
		by = a.Disturbed(r)
	}
	if by.Why == "" {
		a.counted++
	} else {
		a.spend(id)
	}
	return by
}

func (a *Again) spend(trial string) {
	if a.attempts == nil {
		a.attempts = map[string]int{}
	}
	a.attempts[trial]++
	a.spent++
}

// again returns what decides for a run that has done so much.
func (s *Session) again(done record.Contents) *Again {
	a := &Again{Disturbed: s.request.Judge.Disturbed, counted: len(done.Records)}
	for _, before := range done.Header.Again {
		a.spend(before.Trial)
	}
	return a
}

// madeAgain is what the bench asks. A record that does not count is kept as an attempt.
func (r *Run) madeAgain(of record.Record) (record.Disturbance, error) {
	by := r.again.Ask(of)
	if by.Why == "" {
		return by, nil
	}
	return by, r.file.Again(by, of)
}
