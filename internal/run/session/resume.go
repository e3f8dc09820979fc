package session

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// Begun returns the request that goes on with the run in a directory.
func Begun(dir Directory) (Request, error) {
	header, err := record.ReadHeader(dir.Records())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Request{}, fmt.Errorf("continue: %s is not the directory of a run: it has no %s", dir, record.RecordsFile)
	case err != nil:
		return Request{}, fmt.Errorf("continue: %w", err)
	}
	r := Request{Args: []string{string(dir)}, Out: dir, Resume: true, Continue: true, Rig: rig.LoopbackName}
	r.PinServer = header.Facts.Pinned()
	if i := slices.Index(header.Command, "--rig"); i >= 0 && i+1 < len(header.Command) {
		r.Rig = header.Command[i+1]
	}
	if len(header.Command) > 2 { // argv: netdyno run STUDY …
		r.begunAs = header.Command[2]
	}
	r.begunBy = strings.Join(header.Command, " ")
	return r, nil
}

// resumable returns the directory of the run to go on with, if its plan is this
// session's.
func (s *Session) resumable() (Directory, error) {
	dir, err := s.begun()
	if err != nil {
		return "", err
	}
	before, err := record.ReadTrials(dir.Trials())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("resume: %s holds no run that has begun; give the command without --resume", dir)
	}
	if err != nil {
		return "", fmt.Errorf("resume: %w", err)
	}
	if err := s.sameLooks(dir); err != nil {
		return "", err
	}
	same := func(a, b record.Trial) bool { return reflect.DeepEqual(a, b) }
	if !slices.EqualFunc(before, s.All, same) {
		return "", fmt.Errorf("resume: the plan in %s differs from this command's; give the command that began it (%s)", dir.Trials(), dir.Study())
	}
	return dir, errors.Join(dir.sameMessages(s.Messages), dir.sameWorkloads(s.workloads.all))
}

// begun returns the directory of the run to go on with: the one that was named, or the
// latest of its study.
func (s *Session) begun() (Directory, error) {
	if s.request.Out != "" {
		return s.request.Out, nil
	}
	return latest(s.Study.Name)
}

// sameLooks refuses to go on with a run under other looks: when figures are
// looked at is declared before they are seen.
func (s *Session) sameLooks(dir Directory) error {
	header, err := record.ReadHeader(dir.Records())
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	was, now := header.Study, study.Summary(s.Study)
	if slices.Equal(was.Looks(), now.Looks()) && was.Blocks == now.Blocks {
		return nil
	}
	how := "for another number begin a new run, without --resume"
	if next := was.NextLook(was.Blocks); next > 0 {
		how = fmt.Sprintf("netdyno run %s --continue goes on to %d blocks; %s", dir, next, how)
	}
	return fmt.Errorf("resume: the run in %s was declared with the looks %s, this command has %s: "+
		"looks are declared before the first trial, because blocks added after a look at the figures raise the chance of a false difference above 5 %%; %s",
		dir, listed(was.Looks()), listed(now.Looks()), how)
}

func listed(looks []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(looks), " ", ", "), "[]")
}

// sameConditions refuses to go on with a run under other conditions than those
// that it began with.
func (s *Session) sameConditions(header record.Header) error {
	if was := header.Facts.Pinned(); was != s.request.PinServer {
		return fmt.Errorf("resume: the run began with --pin-server=%v; expected the same", was)
	}
	return errors.Join(s.samePrograms(header.Facts.Tools), s.sameRequirements(header.Study.Requires))
}

// samePrograms refuses a worker whose program is not the one that the run
// began with, and a worker that has generated code now and had none then.
func (s *Session) samePrograms(before map[string]record.Binary) error {
	now, err := s.catalog.Binaries(func(bench.Program) bool { return true })
	if err != nil {
		return err
	}
	for name, was := range before {
		if now[name].SHA256 != was.SHA256 {
			return fmt.Errorf("resume: %s is not the program that the run began with; its trials could not be compared", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := before[name]; now[name].Message != "" && !there {
			return errors.New("resume: the run began without generated code for message " + now[name].Message +
				"; take go off PATH to go on with it, or begin another run")
		}
	}
	return nil
}

// sameRequirements refuses to go on with a run under other requirements: what is
// asked of figures is declared before they are seen.
func (s *Session) sameRequirements(was []record.Require) error {
	now := study.Summary(s.Study).Requires
	same := func(a, b record.Require) bool { return reflect.DeepEqual(a, b) }
	if slices.EqualFunc(now, was, same) {
		return nil
	}
	texts := each.Of(was, func(r record.Require) string { return r.Text })
	return fmt.Errorf("resume: the run began with other requirements; expected %q", texts)
}

// nextLook returns the blocks of the look to which a run goes on that has all its
// records up to another. The error says why there is none.
func (s *Session) nextLook(run record.Contents, horizon int) (int, error) {
	dir, looks, done := run.Header.Directory, run.Header.Study.Looks(), quantity.Plural(horizon, "block")
	if len(looks) == 1 {
		return 0, fmt.Errorf("continue: %s has done its %s, and further ones were not declared; for more precise figures begin a new run, with more blocks=N", dir, done)
	}
	settled := run.Header.Stopped != nil
	if !settled {
		var err error
		settled, _, err = s.request.Judge.Look(run.Header, s.All, run.Records, slices.Index(looks, horizon)+1)
		if err != nil {
			return 0, fmt.Errorf("continue: %w", err)
		}
	}
	if settled {
		over := ""
		if run.Header.Study.SettleS > 0 {
			over = ", or its time was over"
		}
		return 0, fmt.Errorf("continue: everything that %s asks was settled after %s%s, where the study ends: a further look could only unsettle it; for narrower intervals begin a new run, with more blocks=N", dir, done, over)
	}
	next := run.Header.Study.NextLook(horizon)
	if next == 0 {
		return 0, fmt.Errorf("continue: %s had %d looks, and has taken the last: its level is spent; begin a new run, with more blocks=N (netdyno report %s says how many)", dir, len(looks), dir)
	}
	return next, nil
}
