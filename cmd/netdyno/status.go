package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/study/source"
)

// exit is the exit status of a command, one of these.
type exit = int

// The exit statuses of every command. statuses says what 0 and 1 are of each; 2 is the
// same of all.
const (
	statusOK      exit = iota // what was asked for is there, whatever it says
	statusUnmet               // it is not, or not all of it; a gate found something worse
	statusRefused             // nothing ran, or bad input
)

// status ends a command with an exit status and, unless quiet, its error.
type status struct {
	code exit
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return ""
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// codeOf is the exit status that an error stands for.
func codeOf(err error) exit {
	var s *status
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &s):
		return s.code
	}
	return statusRefused
}

// exitCode prints what is left to say and chooses the exit status.
func exitCode(err error) int {
	if err != nil {
		if said := linesOf(err); len(said) > 0 {
			fmt.Fprintln(stderr, "netdyno:", strings.Join(said, "\n"))
		}
	}
	return codeOf(err)
}

// meanings are what the statuses 0 and 1 mean of some commands, each with the flag that
// the row is about; unmet is "" where they never end with 1.
type meanings struct {
	commands  []string
	ok, unmet string
}

// refused is status 2 of every command.
const refused = "nothing ran, or bad input"

// statuses are those of every command: the one place that says them. The help of each
// command has its rows, docs/commands.md the table.
var statuses = []meanings{
	{[]string{"run", "curl", "capacity", "tune", "report"}, "it was measured, whatever the answer: every arm has a valid trial in every cell", "an arm has none in a cell, or trials are missing (by URL Ctrl-C is a normal end)"},
	{[]string{"run --gate", "report --gate", "compare"}, "nothing is worse, or that cannot be told", "something is worse, or was not measured"},
	{[]string{"cost", "cost plan"}, "every model can be used", "one is refused, or was not measured"},
	{[]string{"calibrate"}, "calibrated", "too few trials are valid, or it was stopped: nothing is kept"},
	{[]string{"tour"}, "every study whose programs are here was measured", "one was not"},
	{[]string{"listen"}, "it ended by Ctrl-C or --for", "the server broke off"},
	{[]string{"record", "export"}, "all of it is written", "a part is left out"},
	{[]string{"check"}, "the worker keeps the contract", "a case failed"},
	{[]string{"doctor"}, "nothing distorts", "something can change a figure or stop a trial"},
	{[]string{"serve", "studies", "transports", "explain", "completion"}, "done", ""},
}

// statusHelp is what the help of a command, such as "cost plan", says of its exit statuses.
func statusHelp(command string) string {
	var b strings.Builder
	for _, s := range statuses {
		for _, of := range s.commands {
			name, flag, found := strings.Cut(of, " --")
			if name != command {
				continue
			}
			with := ""
			if found {
				with = " with --" + flag
			}
			fmt.Fprintf(&b, "\n\nExit status%s:", with)
			for code, means := range []string{s.ok, s.unmet, refused} {
				if means != "" {
					fmt.Fprintf(&b, "\n  %d  %s", code, wrapped(means, "     "))
				}
			}
		}
	}
	return b.String()
}

// helpWidth is as wide as the lines of a help are.
const helpWidth = 84

// wrapped breaks a text into lines that begin with an indent, but for the first.
func wrapped(text, indent string) string {
	var b strings.Builder
	width := len(indent)
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && width+1+len(word) > helpWidth:
			b.WriteString("\n" + indent)
			width = len(indent)
		case i > 0:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// withStatuses adds to the help of every command what its exit statuses mean.
func withStatuses(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Long == "" {
			sub.Long = sub.Short + "."
		}
		sub.Long = strings.TrimRight(sub.Long, "\n") + statusHelp(strings.TrimPrefix(sub.CommandPath(), "netdyno "))
		withStatuses(sub)
	}
}

// verdict is the exit status of a run: whether what it was asked for was measured, whatever
// came out.
func verdict(f finding.Findings) error {
	t := f.Tally
	switch without := unmeasured(f); {
	case t.Valid == 0:
		return &status{statusUnmet, fmt.Errorf("no trial is valid (%d failed, %d invalid, %d unsupported, %d not run)", t.Failed, t.Invalid, t.Unsupported, t.Missing)}
	case len(without) > 0:
		return &status{statusUnmet, fmt.Errorf("no trial is valid of %s", quantity.Names(without))}
	case t.Missing > 0 && !endsAnywhere(f.Header), !f.Costs.Whole():
		return &status{statusUnmet, nil}
	}
	return nil
}

// unmeasured names every arm in a cell where it was tried and no trial is valid. Where a
// mesh has pairs of hosts, and a race settings, one that fails is an answer.
func unmeasured(f finding.Findings) (all []string) {
	if f.Mesh != nil || f.Search != nil && f.Search.Choice != nil {
		return nil
	}
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			left := func(t trial.Trial) bool {
				return t.Status == trial.Valid || t.Status == trial.StatusUnsupported && !asks(f.Header, arm.Name)
			}
			if len(arm.Trials) > 0 && !slices.ContainsFunc(arm.Trials, left) {
				all = append(all, cells.ArmOf(cell, arm))
			}
		}
	}
	return all
}

// asks tells whether a run's command names an arm. Those of a built-in study that it does
// not name may be absent here.
func asks(h record.Header, arm string) bool {
	return !slices.Contains(source.List(), h.Study.Name) || slices.ContainsFunc(h.Command, func(arg string) bool {
		_, levels, _ := strings.Cut(arg, "=")
		return slices.Contains(strings.Split(levels, ","), arm)
	})
}

// together is the status of several studies by what each ended with.
func together(ends []error) error {
	err := errors.Join(ends...)
	if slices.ContainsFunc(ends, func(e error) bool { return codeOf(e) != statusRefused }) && err != nil {
		return &status{statusUnmet, err}
	}
	return err
}
