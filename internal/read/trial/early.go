package trial

import (
	"reflect"
	"slices"
	"sync"

	"netdyno/internal/record"
)

// Early judges the records of many trials while they are read, and lightens each as soon as
// it is judged: whole, those of a hundred thousand trials would not fit into memory. What
// is found is the same. The zero value has judged nothing.
type Early struct {
	planned map[string]record.Trial
	judged  map[string]*Judged
	options sync.Map // by arm and worker: those of an arm's trials are the same, and held once
}

// NewEarly returns what judges the records of a plan. The plan must be the one that was
// run, as that of a study that steers itself is known too late. Of a plan with trials
// without load it judges none: the others are divided by these.
func NewEarly(plan []record.Trial) *Early {
	e := &Early{planned: make(map[string]record.Trial, len(plan)), judged: make(map[string]*Judged, len(plan))}
	if slices.ContainsFunc(plan, func(t record.Trial) bool { return t.Unloaded }) {
		return e
	}
	for _, t := range plan {
		e.planned[t.ID] = t
	}
	return e
}

// Take judges a record, which must be the caller's own, and returns what to call once the
// record counts. Many goroutines may use it; one at a time calls what it returns. Probes,
// which are read whole, and records that are not the plan's are left as they are.
func (e *Early) Take(r *record.Record) (keep func()) {
	plan, known := e.planned[r.Trial.ID]
	if !known || plan.Probe || !reflect.DeepEqual(plan, r.Trial) {
		return func() {}
	}
	v := &Judged{Plan: plan, Record: r}
	v.Trial = judge(v)
	v.Record, v.Light = nil, true
	r.Lighten()
	r.Trial = plan
	for i := range r.Workers {
		e.shareOptions(plan.Arm, &r.Workers[i])
	}
	return func() { e.judged[plan.ID] = v }
}

// Of returns what was found of a trial, as far as one record tells; a fresh one where
// nothing was.
func (e *Early) Of(plan record.Trial) *Judged {
	if e != nil {
		if v := e.judged[plan.ID]; v != nil {
			return v
		}
	}
	return &Judged{Plan: plan}
}

// shareOptions lets a worker refer to the options of the first of its arm and name that was
// read, where they are the same.
func (e *Early) shareOptions(arm string, w *record.Worker) {
	if w.Ready == nil {
		return
	}
	first, _ := e.options.LoadOrStore([2]string{arm, w.Name}, w.Ready.Options)
	if options, ok := first.(map[string]any); ok && reflect.DeepEqual(options, w.Ready.Options) {
		w.Ready.Options = options
	}
}
