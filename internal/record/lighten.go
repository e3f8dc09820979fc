package record

import (
	"slices"

	"netdyno/internal/contract"
)

// Lighten drops what nothing asks of a record once the trial is judged by itself: the
// histograms of its times, the steps inside its window, the runtimes' counters, and the
// meter's tables of threads, CPUs, interfaces and sockets. What names the workers, their
// settings, counts and processes stays, and so do ticks that a timeline is drawn from. The
// record must be the caller's own.
func (r *Record) Lighten() {
	for i := range r.Workers {
		w := &r.Workers[i]
		if !w.TicksInDetail() {
			w.Ticks = nil
		}
		if w.Result != nil {
			w.Result.Service, w.Result.Response, w.Result.Lag, w.Result.Late, w.Result.Lengths, w.Result.Runtime = "", "", "", "", "", nil
			w.Result.Bins, w.Result.Classes, w.Result.Paths, w.Result.Steps = nil, nil, nil, nil
		}
		w.AtReady, w.Idle, w.Warming = nil, nil, nil
		lightenMeter(w.AtResult)
		for _, e := range []*Edge{w.Open, w.Close} {
			if e != nil {
				e.Reading.Runtime = nil
				lightenMeter(e.Meter)
			}
		}
		if w.Close != nil && w.AtResult != nil { // which ends the window where there is no closing edge
			w.AtResult.TCP, w.AtResult.UDP = nil, nil
		}
	}
}

// OnlyCounts tells whether nothing is asked of a judged record's workers but who they were
// and what they counted: the one client has no timeline, no other machine's processes were
// metered, and the server is one of them.
func OnlyCounts(workers []Worker) bool {
	serves, clients := false, 0
	for i := range workers {
		w := &workers[i]
		if w.TicksInDetail() || w.Close == nil || w.Setup == nil || w.Setup.TLS != nil || w.Ready == nil || w.Ready.Elsewhere || w.Ready.Foreign {
			return false
		}
		if w.Close.Meter != nil && w.Close.Meter.Attached != nil {
			return false
		}
		serves = serves || w.Role == contract.Server
		if !w.Role.Serves() {
			clients++
		}
	}
	return serves && clients == 1
}

// LightenMore drops from a worker of such a record what it was told and answered for one
// trial alone, and the meter's readings.
func (w *Worker) LightenMore() {
	setup, ready := *w.Setup, *w.Ready
	setup.Trial, setup.Seed, setup.Listen, setup.Allow, setup.Peers, setup.Sources = "", 0, "", nil, nil, nil
	ready.Addresses = nil
	w.Setup, w.Ready, w.Open, w.Close, w.AtResult, w.Exit = &setup, &ready, nil, nil, nil, nil
	if w.Role.Serves() {
		w.Result = nil
	}
}

// TimesOnly is as much of a record as a window's times by size need. It shares its texts
// with the record, and stays as it is when that is lightened.
func (r *Record) TimesOnly() *Record {
	few := &Record{Schema: r.Schema, Trial: r.Trial, Outcome: r.Outcome}
	for _, w := range r.Workers {
		kept := Worker{Name: w.Name, Role: w.Role, Setup: w.Setup}
		if w.Result != nil {
			result := *w.Result
			result.Lag, result.Lengths, result.Runtime, result.Bins = "", "", nil, slices.Clone(result.Bins)
			result.Classes, result.Paths, result.Steps = nil, nil, nil
			for i := range result.Bins {
				result.Bins[i].Behind, result.Bins[i].Free = "", ""
			}
			kept.Result = &result
		}
		few.Workers = append(few.Workers, kept)
	}
	return few
}

func lightenMeter(m *contract.Meter) {
	if m == nil {
		return
	}
	m.Threads, m.CPUs, m.CPUSet, m.Interfaces, m.Pressure, m.Beat = nil, nil, nil, nil, nil, nil
	if m.TCP != nil {
		m.TCP.Each = nil
	}
}

// TicksInDetail tells whether the worker's ticks say more than counts, as those of a trial
// with a timeline do.
func (w *Worker) TicksInDetail() bool {
	if len(w.Metered) > 1 {
		return true
	}
	for _, t := range w.Ticks {
		if t.Times != nil {
			return true
		}
	}
	return false
}
