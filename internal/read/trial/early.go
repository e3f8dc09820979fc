package trial

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Early judges the records of many trials while they are read, and lightens each as soon as
// it is judged: whole, those of a hundred thousand trials would not fit into memory. What
// is found is the same. The zero value has judged nothing.
type Early struct {
	Accounts int // of trials for which the settings and stderr of each are kept; of the others only what they counted

	planned map[string]*record.Trial
	judged  map[string]*Judged
	divided bool     // by trials without load, which may come after those that they divide
	options sync.Map // by arm and worker: those of an arm's trials are the same, and held once

	// Of the goroutine that keeps:
	first map[[2]string]firstKept       // by cell and arm: the trial of which settings are read
	drawn map[[2]string]int             // by cell and arm: trials that may be drawn over time
	most  map[string]int                // by cell: of an arm, those that are, and one that shows that there are more
	told  map[[3]string]*contract.Setup // by cell, arm and worker: what an arm's workers were told is the same, and held once
	found map[[3]string]*contract.Ready // and what they answered
}

// firstKept is the first valid trial of a cell's arm so far, with its record's workers.
type firstKept struct {
	of      *Judged
	workers []record.Worker
}

// MostAccounts are the trials of which a page says by itself what they were: of none where
// a run has more.
const MostAccounts = 300

// mostExact are the trials of which the times are kept as they were counted, to three
// digits; of more they would not fit into memory.
const mostExact = 20_000

// NewEarly returns what judges the records of a plan. The plan must be the one that was
// run, as that of a study that steers itself is known too late, but for rates that are
// shares: those that a record has are held to the ones decided once these are known. Where
// there are trials without load, the others keep their times until these are read.
func NewEarly(plan []record.Trial) *Early {
	e := &Early{
		Accounts: MostAccounts,
		planned:  make(map[string]*record.Trial, len(plan)), judged: make(map[string]*Judged, len(plan)),
		first: map[[2]string]firstKept{}, drawn: map[[2]string]int{}, most: map[string]int{}, told: map[[3]string]*contract.Setup{}, found: map[[3]string]*contract.Ready{},
	}
	e.divided = slices.ContainsFunc(plan, func(t record.Trial) bool { return t.Unloaded })
	arms := map[string]map[string]bool{} // by cell
	for i := range plan {
		t := &plan[i]
		e.planned[t.ID] = t
		if arms[t.Cell] == nil {
			arms[t.Cell] = map[string]bool{}
		}
		arms[t.Cell][t.Arm] = true
	}
	for cell, of := range arms {
		e.most[cell] = SeriesDrawn(len(arms), len(of)) + 1
	}
	return e
}

// Take judges a record, which must be the caller's own, and returns what to call once the
// record counts. Many goroutines may use it; one at a time calls what it returns. Probes,
// which are read whole, and records that are not the plan's are left as they are.
func (e *Early) Take(r *record.Record) (keep func()) {
	planned, known := e.planned[r.Trial.ID]
	if !known {
		return func() {}
	}
	plan := *planned
	if of := r.Trial.Levels[record.RateOf]; of != "" && plan.OfFlatOut() {
		plan.Levels = maps.Clone(plan.Levels)
		plan.Levels[record.RateOf] = of
	}
	if plan.Probe || !reflect.DeepEqual(plan, r.Trial) {
		return func() {}
	}
	v := &Judged{Plan: plan, Record: r}
	v.Trial = judge(v)
	if len(e.planned) > mostExact {
		v.Trial.Times.coarsen(plan.Block)
	}
	if e.divided && !plan.Unloaded {
		v.times = r.TimesOnly()
	}
	v.Record, v.Light = nil, true
	r.Lighten()
	r.Trial = plan
	for i := range r.Workers {
		e.shareOptions(plan.Arm, &r.Workers[i])
	}
	return func() { e.keep(v, r.Workers) }
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

// keep takes in a trial that counts. Of all valid ones of an arm in a cell but the first
// nothing is asked any more but what its clients counted.
func (e *Early) keep(v *Judged, workers []record.Worker) {
	e.judged[v.Plan.ID] = v
	if len(e.judged) <= e.Accounts || v.Trial.Status != Valid || !record.OnlyCounts(workers) {
		return
	}
	place := [2]string{v.Plan.Cell, v.Plan.Arm}
	if e.drawn[place]++; e.drawn[place] > e.most[place[0]] {
		v.Trial.Series = nil
	}
	first, known := e.first[place]
	switch {
	case !known:
		e.first[place] = firstKept{v, workers}
		return
	case InOrder(v, first.of) < 0:
		e.first[place] = firstKept{v, workers}
		v, workers = first.of, first.workers
	}
	for i := range workers {
		w := &workers[i]
		w.LightenMore()
		at := [3]string{v.Plan.Cell, v.Plan.Arm, w.Name}
		w.Setup, w.Ready = shared(e.told, at, w.Setup), shared(e.found, at, w.Ready)
	}
}

// shared returns the first value at a place where another is the same.
func shared[T any](first map[[3]string]*T, at [3]string, other *T) *T {
	one, known := first[at]
	if !known {
		first[at] = other
		return other
	}
	if reflect.DeepEqual(one, other) {
		return one
	}
	return other
}

// InOrder compares two trials of a cell's arm: by block, a repeat after its first
// appearance.
func InOrder(a, b *Judged) int {
	return cmp.Or(cmp.Compare(a.Plan.Block, b.Plan.Block), rank(a.Plan.Repeat)-rank(b.Plan.Repeat),
		cmp.Compare(a.Plan.Order, b.Plan.Order), cmp.Compare(a.Plan.ID, b.Plan.ID))
}

func rank(repeat bool) int {
	if repeat {
		return 1
	}
	return 0
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
