package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
)

// begun makes the options of a run whose directory is the only argument those
// that it was begun with.
func (f runFlags) begun(args []string) (runFlags, error) {
	if len(args) > 1 {
		return f, fmt.Errorf("continue: found %q after the directory; what a run asks was declared before its first trial, expected the directory alone", args[1])
	}
	dir := directory(args[0])
	header, err := record.ReadHeader(dir.records())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("continue: %s is not the directory of a run: it has no records.jsonl", dir)
	case err != nil:
		return f, fmt.Errorf("continue: %w", err)
	case len(header.Listen) > 0:
		return f, fmt.Errorf("continue: %s is the account of a netdyno listen; name a run that drove it", dir)
	}
	f.out, f.resume, f.rig = args[0], true, rig.LoopbackName
	if i := slices.Index(header.Command, "--rig"); i >= 0 && i+1 < len(header.Command) {
		f.rig = header.Command[i+1]
	}
	if len(header.Command) > 2 { // argv: netdyno run STUDY …
		f.named = header.Command[2]
	}
	return f, nil
}

// study reads the study of a command, or the one that a run's directory holds.
func (f runFlags) study(ctx context.Context, args []string, choice arrange.Choice) (*study.Study, error) {
	read := input.Within(ctx, study.MaxFile)
	if !f.goOn {
		return study.ParseArgs(withServer(slices.Concat(args, choice.Levels()), choice), read)
	}
	name := directory(f.out).study()
	text, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("continue: %w", err)
	}
	return study.ParseFile(name, text)
}

// reopen opens a run to go on with, if its plan is this plan.
func (p *plan) reopen(dir directory, f runFlags) (directory, *record.File, []record.Record, error) {
	var err error
	if dir == "" {
		if dir, err = latestDirectory(p.study.Name); err != nil {
			return "", nil, nil, err
		}
	}
	before, err := record.ReadTrials(dir.trials())
	if err != nil {
		return "", nil, nil, fmt.Errorf("resume: %w", err)
	}
	if err := p.sameLooks(dir); err != nil {
		return "", nil, nil, err
	}
	if !sameTrials(before, p.all) {
		return "", nil, nil, fmt.Errorf("resume: the plan in %s differs from this command's; give the command that began it (%s)", dir.trials(), dir.study())
	}
	if err := dir.sameMessages(p.messages); err != nil {
		return "", nil, nil, err
	}
	file, contents, err := record.OpenForAppend(dir.records())
	if err != nil {
		return "", nil, nil, fmt.Errorf("resume: %w", err)
	}
	for _, problem := range contents.Problems {
		fmt.Fprintf(stderr, "netdyno: %s: %s\n", dir.records(), problem)
	}
	contents.Header.Directory = string(dir)
	err = errors.Join(p.samePrograms(contents.Header), p.sameRequirements(contents.Header))
	if err == nil {
		err = p.take(contents, f.goOn)
	}
	if err != nil {
		return "", nil, nil, errors.Join(err, file.Close())
	}
	return dir, file, contents.Records, nil
}

// sameLooks refuses to go on with a run under other looks: when figures are
// looked at is declared before they are seen.
func (p *plan) sameLooks(dir directory) error {
	header, err := record.ReadHeader(dir.records())
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	was, now := header.Study, study.Summary(p.study)
	if slices.Equal(was.Looks(), now.Looks()) && was.Blocks == now.Blocks {
		return nil
	}
	how := "for another number begin a new run, without --resume"
	if next := was.NextLook(was.Blocks); next > 0 {
		how = fmt.Sprintf("netdyno run %s --continue goes on to %d blocks; %s", dir, next, how)
	}
	return fmt.Errorf("resume: the run in %s was declared with %s, this command has %s: "+
		"looks are declared before the first trial, because blocks added after a look at the figures raise the chance of a false difference above 5 %%; %s",
		dir, looksText(was), looksOf(now), how)
}

// looksText is the looks of a study in words, with those of its own.
func looksText(s record.Study) string { return "the looks " + looksOf(s) }

func looksOf(s record.Study) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Looks()), " ", ", "), "[]")
}

// samePrograms refuses workers other than those that the run began with, and
// those that have generated code where they had none.
func (p *plan) samePrograms(header record.Header) error {
	for name, was := range header.Facts.Tools {
		if is := p.facts.Tools[name]; is.SHA256 != was.SHA256 {
			return fmt.Errorf("resume: %s is not the program that the run began with; its trials could not be compared", name)
		}
	}
	return sameMessageCode(header.Facts.Tools, p.facts.Tools)
}

// sameRequirements refuses to go on with a run under other requirements: what is
// asked of figures is declared before they are seen.
func (p *plan) sameRequirements(header record.Header) error {
	now, was := study.Summary(p.study).Requires, header.Study.Requires
	same := func(a, b record.Require) bool { return reflect.DeepEqual(a, b) }
	if slices.EqualFunc(now, was, same) {
		return nil
	}
	var texts []string
	for _, r := range was {
		texts = append(texts, r.Text)
	}
	return fmt.Errorf("resume: the run began with other requirements; expected %q", texts)
}

// take chooses the trials that are to be run still: those of the run's own
// looks, of the further look that it had gone on to, or, when it is told to go
// on and nothing of these is left, of the next one.
func (p *plan) take(run record.Contents, goOn bool) error {
	horizon := record.Horizon(run.Header, p.all, run.Records)
	p.trials = study.Before(p.all, horizon)
	stopped := run.Header.Stopped
	if stopped != nil && !goOn {
		fmt.Fprintf(stdout, "%s stopped after stage %d of %d (%d blocks), where everything was settled: it is done but for its probes\n",
			p.study.Name, stopped.Stage, len(run.Header.Study.Looks()), stopped.Blocks)
	}
	if !goOn || len(remaining(p.trials, run.Records)) > 0 {
		return nil
	}
	next, err := p.next(run, horizon)
	if err != nil {
		return err
	}
	looks := run.Header.Study.Looks()
	fmt.Fprintf(stdout, "%s goes on to stage %d of %d (%d blocks)\n", p.study.Name, slices.Index(looks, next)+1, len(looks), next)
	p.trials = study.Before(p.all, next)
	return nil
}

// next is the look to which a run goes on that has all its records up to
// another; an error says why there is none.
func (p *plan) next(run record.Contents, horizon int) (int, error) {
	dir, looks := run.Header.Directory, run.Header.Study.Looks()
	if len(looks) == 1 {
		return 0, fmt.Errorf("continue: the number of blocks of %s was fixed at %d when it began: it has one look, which has the whole level, and blocks added to it "+
			"would raise the chance of a false difference above 5 %%; begin a new run, with more blocks=N or without", dir, horizon)
	}
	settled := run.Header.Stopped != nil
	if !settled {
		look, err := compare.Look(run.Header, p.all, run.Records, slices.Index(looks, horizon)+1)
		if err != nil {
			return 0, fmt.Errorf("continue: %w", err)
		}
		settled = look.Settled
	}
	if settled {
		return 0, fmt.Errorf("continue: everything that %s asks was settled after %d blocks, where the study ends: a further look could only unsettle it; "+
			"for narrower intervals begin a new run with more blocks=N", dir, horizon)
	}
	next := run.Header.Study.NextLook(horizon)
	if next == 0 {
		return 0, fmt.Errorf("continue: %s had %d looks, and has taken the last: its level is spent; begin a new run, with a longer window or with more blocks=N (netdyno report %s says how many)", dir, len(looks), dir)
	}
	return next, nil
}
