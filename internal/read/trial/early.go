package trial

import (
	"maps"
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
	divided bool     // by trials without load, which may come after those that they divide
	options sync.Map // by arm and worker: those of an arm's trials are the same, and held once
}

// NewEarly returns what judges the records of a plan. The plan must be the one that was
// run, as that of a study that steers itself is known too late, but for rates that are
// shares: those that a record has are held to the ones decided once these are known. Where
// there are trials without load, the others keep their times until these are read.
func NewEarly(plan []record.Trial) *Early {
	e := &Early{planned: make(map[string]record.Trial, len(plan)), judged: make(map[string]*Judged, len(plan))}
	e.divided = slices.ContainsFunc(plan, func(t record.Trial) bool { return t.Unloaded })
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
	if of := r.Trial.Levels[record.RateOf]; of != "" && plan.OfFlatOut() {
		plan.Levels = maps.Clone(plan.Levels)
		plan.Levels[record.RateOf] = of
	}
	if !known || plan.Probe || !reflect.DeepEqual(plan, r.Trial) {
		return func() {}
	}
	v := &Judged{Plan: plan, Record: r}
	v.Trial = judge(v)
	if e.divided && !plan.Unloaded {
		v.times = r.TimesOnly()
	}
	v.Record, v.Light = nil, true
	r.Lighten()
	r.Trial = plan
	for i := range r.Workers {
		e.shareOptions(plan.Arm, &r.Workers[i])
	}
	return func() { e.judged[plan.ID] = v }
}

// Of returns what was found of a trial, as far as one record tells; a fresh one where
// nothing was, or at levels that are not the plan's.
func (e *Early) Of(plan record.Trial) *Judged {
	if e != nil {
		if v := e.judged[plan.ID]; v != nil && reflect.DeepEqual(v.Plan, plan) {
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
