package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

func expectedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "expect [DIR…]",
		Short: "List what the built-in studies expect, with what became of it in the last run",
		Long: `List every statement of the built-in studies: what a publication concludes, or a
study itself, with what became of it in the last of the runs in DIR…, of those under
results/ unless any is named. Of a statement that no run tested it says where it can
be tested, and by which command.`,
		RunE: func(_ *cobra.Command, args []string) error { return printExpected(args) },
	}
}

// printExpected lists the statements of every built-in study. Runs that cannot be read are
// named behind them.
func printExpected(args []string) error {
	dirs := session.Runs(session.ResultsRoot)
	if len(args) > 0 {
		dirs = nil
		for _, arg := range args {
			dirs = append(dirs, session.Directory(arg))
		}
	}
	tested, unread := testedIn(dirs)
	for _, name := range source.List() {
		s, err := source.Named(name)
		if err != nil {
			return err
		}
		if len(s.Expect) > 0 {
			stdout.say("%s", name)
		}
		for _, x := range s.Expect {
			printStatement(s, x, tested[[2]string{name, x.Name()}])
		}
	}
	if len(args) == 0 {
		for _, err := range unread {
			stderr.say("left out: %v", err)
		}
		return nil
	}
	return errors.Join(unread...)
}

// tested is what became of a statement in a run.
type tested struct {
	expect.Result
	run string
}

// testedIn reads runs and returns what became of each study's statements in the last run
// in which it could be tested, else in the last one.
func testedIn(dirs []session.Directory) (last map[[2]string]*tested, unread []error) {
	var runs []reading
	for _, d := range dirs {
		r, err := readRun(d)
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", d, err))
			continue
		}
		r.Header.Directory = string(d)
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, func(a, b reading) int { return a.Header.CreatedAt.Compare(b.Header.CreatedAt) })
	last = map[[2]string]*tested{}
	for _, r := range runs {
		for _, x := range r.Expect {
			key := [2]string{r.Header.Study.Name, x.Spec.Name()}
			if before := last[key]; before == nil || x.State != expect.NotTestable || before.State == expect.NotTestable {
				last[key] = &tested{x, r.Header.Directory}
			}
		}
	}
	return last, unread
}

// printStatement prints a statement, its state, and on what that rests.
func printStatement(s *study.Study, x record.Expectation, last *tested) {
	state, ground := "not run here", cmp.Or(x.Unmeasured, record.WhereTested(s.Name, x.Under))
	if last != nil {
		state, ground = string(last.State), last.Ground+" ("+last.run+")"
	}
	stdout.say("  %-17s  %s", state, x.Name())
	if x.Source != "" {
		stdout.say("  %-17s  by %s", "", x.Source)
	}
	stdout.say("  %-17s  %s", "", ground)
}
