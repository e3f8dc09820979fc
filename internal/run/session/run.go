package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// Run is a session with its directory: what is to be measured, and what was.
type Run struct {
	Dir      Directory
	Left     []record.Trial   // without a record, in the order of the plan
	Problems []record.Problem // of the records that were there
	Stopped  *record.Stop     // where an earlier session found everything settled; nil when it did not
	Further  int              // blocks of the further look that Continue goes on to; 0 when there is none

	session *Session
	again   *Again
	file    *record.File
	tail    record.Tail // of the file, for what is asked before blocks
}

// Observer is told how a run goes, by several goroutines. Each may be nil.
type Observer struct {
	Trial func(bench.Event)
	Look  func(words string) // what a look between two blocks found

	// Left says how long the run goes on: the least where its next look may end it, and the
	// most. It is what those who follow the run are shown, too.
	Left func() (least, most time.Duration)
}

// Open makes the run's directory, or finds the one to go on with. Measure closes
// what it opens.
func (s *Session) Open() (*Run, error) {
	if s.request.Resume || s.request.Continue {
		return s.reopen()
	}
	text, err := source.YAML(s.Study)
	if err != nil {
		return nil, err
	}
	dir, err := s.request.Out.OrFresh(s.Study.Name)
	if err != nil {
		return nil, err
	}
	file, err := dir.Create(text, s.header(), s.All)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(keep(dir.Messages(), s.Messages), keep(dir.Workloads(), s.workloads.all), s.texts.writeTexts(dir), s.writeAsked(file)); err != nil {
		return nil, errors.Join(err, dir.clear(), file.Close())
	}
	return &Run{Dir: dir, Left: s.Trials, session: s, again: s.again(record.Contents{}), file: file}, nil
}

// writeAsked notes what the command asked of servers before.
func (s *Session) writeAsked(file *record.File) error {
	var asked []record.Asked
	for _, a := range s.request.Arms {
		if a.Asked.Probe > 0 {
			a.Asked.Arm = a.Name
			asked = append(asked, a.Asked)
		}
	}
	if asked == nil {
		return nil
	}
	return file.Ask(asked)
}

func (s *Session) header() record.Header {
	summary := study.Summary(s.Study)
	summary.Warnings = s.Warnings
	typed := s.request.Typed
	if typed == nil {
		typed = slices.Clone(s.request.Args)
		for _, set := range s.request.Set {
			typed = append(typed, set.Key+"="+set.Value)
		}
	}
	command := append([]string{"netdyno", cmp.Or(s.request.Command, "run")}, typed...)
	if s.request.Rig != rig.LoopbackName {
		command = append(command, "--rig", s.request.Rig)
	}
	return record.Header{
		Netdyno: s.request.Version, CreatedAt: time.Now().UTC(), Command: command, Study: summary, Facts: s.Facts,
	}
}

// reopen opens a run to go on with, if its plan is this session's.
func (s *Session) reopen() (*Run, error) {
	dir, err := s.resumable()
	if err != nil {
		return nil, err
	}
	file, contents, err := record.OpenForAppend(dir.Records())
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	contents.Header.Directory = string(dir)
	r := &Run{Dir: dir, Problems: contents.Problems, session: s, again: s.again(contents), file: file}
	if err = s.sameConditions(contents.Header); err == nil {
		err = r.choose(contents)
	}
	if err == nil {
		err = errors.Join(s.texts.writeTexts(dir), s.writeAsked(file))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// choose chooses the trials that are left: those of the run's own looks, of the
// further look that it had gone on to, or, with Continue and nothing of these
// left, of the next one.
func (r *Run) choose(run record.Contents) error {
	s := r.session
	horizon := record.Horizon(run.Header, s.All, run.Records)
	s.Trials = record.Allocated(study.Before(s.All, horizon), run.Header.Allocations)
	r.Left = remaining(s.Trials, run.Records)
	if !s.request.Continue {
		r.Stopped = run.Header.Stopped
		return nil
	}
	if len(r.Left) > 0 {
		return nil
	}
	var err error
	if r.Further, err = s.nextLook(run, horizon); err != nil {
		return err
	}
	s.Trials = study.Before(s.All, r.Further)
	r.Left = remaining(s.Trials, run.Records)
	return nil
}

// remaining returns the trials without a record.
func remaining(trials []record.Trial, done []record.Record) []record.Trial {
	has := map[string]bool{}
	for _, r := range done {
		has[r.Trial.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return has[t.ID] })
}

// Measure runs the trials that are left, records what the hosts are like
// afterwards, and closes the run's file. What was measured before an error is
// kept. When ctx ends, the error is its cause.
func (r *Run) Measure(ctx context.Context, o Observer) error {
	err := r.measure(ctx, o)
	if err == nil && len(r.Left) > 0 {
		err = r.surveyAfter(ctx)
	}
	if closed := r.file.Close(); err == nil {
		err = closed
	}
	return err
}

func (r *Run) measure(ctx context.Context, o Observer) error {
	s, live := r.session, newLive(r.Dir.Live(), o.Left)
	defer live.end()
	observe := func(e bench.Event) {
		live.observe(e)
		if o.Trial != nil {
			o.Trial(e)
		}
	}
	b := bench.Bench{
		Rig: s.site.rig, Hosts: s.site.hosts, Catalog: s.catalog, Meter: []string{s.site.program, "meter"},
		Keep: r.keep, Observe: observe, Before: r.before(o.Look), Rest: r.rest, Stints: s.inTurns, Apart: s.apart, Roams: s.Roams(), Again: r.madeAgain, Messages: s.Messages, Workload: s.workloads.enter,
		Texts: func(host rig.Host, level string) (string, error) { return s.texts.path(r.Dir, host, level) },
	}
	return b.Run(ctx, r.Left)
}

// keep makes a record durable, without the secrets that a server may have told.
func (r *Run) keep(one record.Record) error {
	if hide := r.session.request.Hide; hide != nil {
		if one.Failure != nil {
			one.Failure.Text = hide(one.Failure.Text)
		}
		for i := range one.Workers {
			w := &one.Workers[i]
			w.Stderr = hide(w.Stderr)
			for k := range w.Errors {
				w.Errors[k].Text = hide(w.Errors[k].Text)
			}
			if w.Result != nil {
				for k := range w.Result.Reasons {
					w.Result.Reasons[k].Text = hide(w.Result.Reasons[k].Text)
				}
			}
		}
	}
	return r.file.Append(one)
}

// rest notes requests of an arm that no record has.
func (r *Run) rest(arm string, requests int64) error {
	return r.file.Ask([]record.Asked{{Arm: arm, Rest: requests}})
}

// surveyAfter records what the hosts are like now.
func (r *Run) surveyAfter(ctx context.Context) error {
	after, err := r.session.site.surveyAfter(ctx)
	maps.DeleteFunc(after, func(_ string, host record.Host) bool { return host.Values == nil })
	if err != nil && (!r.session.Study.Mesh || len(after) == 0) { // a mesh can lose a host and tell of the others
		return fmt.Errorf("facts after the run: %w", err)
	}
	return r.file.End(after)
}
