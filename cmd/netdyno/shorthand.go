package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/target"
)

// withRun puts the command run before arguments that name a URL, a level or first a
// built-in study, and no command, also where a shell asks what may follow them.
func withRun(args []string, isCommand func(name string) bool) []string {
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		last := len(args) - 1 // is being typed
		return slices.Concat(args[:1], withRun(args[1:last], isCommand), args[last:])
	}
	if len(args) == 0 || isCommand(args[0]) || !slices.Contains(source.List(), args[0]) && !slices.ContainsFunc(args, asksForRun) {
		return args
	}
	return append([]string{"run"}, args...)
}

// asksForRun tells an argument that only run takes.
func asksForRun(arg string) bool {
	key, _, isLevel := strings.Cut(arg, "=")
	_, isURL := target.WithScheme(arg)
	return isURL || isLevel && !strings.HasPrefix(key, "-") || noURL(arg) != nil
}

// takeRig takes rig=RIG out of the arguments: where the workers run is typed like
// what they do.
func (f *runFlags) takeRig(args []string) ([]string, error) {
	var rest []string
	for _, arg := range args {
		where, is := strings.CutPrefix(arg, "rig=")
		switch {
		case !is:
			rest = append(rest, arg)
		case f.goOn:
			return nil, errors.New("continue: a run goes on where it began; leave out " + arg)
		case f.rig != rig.LoopbackName:
			return nil, errors.New(arg + ": the rig is given twice")
		case where == "":
			return nil, errors.New("rig has no value; expected one, such as rig=netns:1Gbit")
		default:
			f.rig = where
		}
	}
	return rest, nil
}

// asTransport reads a first argument that names no study and no file, but one or
// several transports of the workers here, as transport=NAME,….
func asTransport(ctx context.Context, workers *session.Workers, args []string) ([]string, error) {
	if len(args) == 0 || strings.ContainsAny(args[0], "=./\\") || slices.Contains(source.List(), args[0]) {
		return args, nil
	}
	catalog, err := workers.Catalog(ctx, nil)
	if err != nil {
		return nil, err
	}
	names := strings.Split(args[0], ",")
	for _, name := range names {
		switch _, err := catalog.Named(name); {
		case err == nil:
		case len(names) > 1:
			return nil, err
		default:
			return args, nil // neither: that it is no study is said, with the nearest one
		}
	}
	return append([]string{"transport=" + args[0]}, args[1:]...), nil
}

// look judges a run at one of its looks. When the run goes on, the words say what is
// answered so far.
func look(header record.Header, trials []record.Trial, records []record.Record, number int) (settled bool, words string, err error) {
	look, err := compare.Look(header, trials, records, number)
	if err != nil || look.Settled {
		return look.Settled, look.Sentence, err
	}
	header.Stopped = &record.Stop{Look: number, Blocks: look.Blocks}
	after := func(block int) bool { return block > look.Blocks }
	so, err := finding.Find(header, slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return after(t.Block) }),
		slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return after(r.Trial.Block) }))
	if err != nil {
		return false, "", err
	}
	return false, look.Sentence + ". So far: " + so.Answer.Sentence, nil
}
