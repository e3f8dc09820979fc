package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// exit is the exit status of a command, one of these.
type exit = int

// The exit statuses of every command; statuses says what each means of each.
const (
	statusOK      exit = iota // answered
	statusTainted             // measured but not answered, or in part; a gate found something worse
	statusRefused             // nothing could be run or read
	statusOpen                // a gate, or compare, cannot tell
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

// meanings are what the statuses of a command mean, by status; "" for one that it never
// ends with.
type meanings struct {
	command string
	means   [4]string
}

const (
	wrongCommand = "the command line is wrong"
	notRead      = "it could not be read"
	cannotStart  = "nothing could be run, or no trial is valid"
)

// statuses are those of every command: the one place that says them. The help of each
// command has its line, docs/commands.md the table.
var statuses = []meanings{
	{"run", [4]string{"all trials are valid; a run by URL may be ended at any time", "some failed, are invalid, stood still or are missing, or what the study asks is not answered", cannotStart, ""}},
	{"run --gate", [4]string{"no arm is worse by more than the margin", "an arm is", "the study could not run", "the blocks do not decide it"}},
	{"curl", [4]string{"all trials are valid; a run by URL may be ended at any time", "some failed, are invalid, stood still or are missing, or what the study asks is not answered", cannotStart, ""}},
	{"capacity", [4]string{"every arm has a capacity, carries at least a rate, or meets the objective at no rate", "an arm is undecided, or the search was stopped", cannotStart, ""}},
	{"mesh", [4]string{"somebody is named, or the hosts are as good as each other, and all trials are valid", "that cannot be told, or some trials are not valid", cannotStart, ""}},
	{"cost", [4]string{"every model can be used, and all trials are valid", "a model is refused, or some trials are not valid", "nothing could be run, or too few cells would be held back", ""}},
	{"plan", [4]string{"both ends of every transport are forecast", "of some one end alone is, or nothing", "there are no costs, or " + wrongCommand, ""}},
	{"tune", [4]string{"a setting is recommended, or the defaults are", "no setting is, or the race was stopped", cannotStart, ""}},
	{"tour", [4]string{"every study ended with 0", "one ended with 1", "one could not run", ""}},
	{"listen", [4]string{"it ended by Ctrl-C or --for", "the server broke off", "it could not start", ""}},
	{"record", [4]string{"written", "written without lines that are no request", "nothing was written", ""}},
	{"report", [4]string{"as the command that measured", "the same, or records are damaged", notRead + ", or no trial is valid", ""}},
	{"report --gate", [4]string{"no arm is worse by more than the margin", "an arm is", notRead + ", or no trial is valid", "the blocks do not decide it"}},
	{"export", [4]string{"written", "written without records that are damaged or not in the plan, or the collector took a part", "nothing was written", ""}},
	{"serve", [4]string{"ended by Ctrl-C", "", "it could not listen, or there is no DIR", ""}},
	{"compare", [4]string{"nothing is worse", "something is, or a run has missing trials or damaged records", "a run could not be read", "the runs do not decide it, or cannot be compared"}},
	{"studies", [4]string{"printed", "", "there is no such study", ""}},
	{"transports", [4]string{"printed", "", "there is no such transport, or no worker answers", ""}},
	{"check", [4]string{"the worker keeps the contract", "a case failed", wrongCommand, ""}},
	{"calibrate", [4]string{"calibrated", "too few trials are valid, or it was stopped: nothing is kept", "a study could not run", ""}},
	{"facts", [4]string{"printed", "", "the host could not be observed", ""}},
	{"doctor", [4]string{"nothing distorts", "something can change a figure or stop a trial", "no host could be read or asked", ""}},
	{"explain", [4]string{"explained", "", "there is no such word", ""}},
	{"completion", [4]string{"printed", "", wrongCommand, ""}},
	{"version", [4]string{"printed", "", wrongCommand, ""}},
}

// workersOwn are the commands whose exit status is another program's, or of no use to a
// user: the worker's, and that of who builds packages.
var workersOwn = []string{"meter", "hold", "pause", "enter", "reach", "sum", "floor", "manual"}

// statusHelp is what the help of a command says of its exit statuses.
func statusHelp(command string) string {
	var b strings.Builder
	for _, s := range statuses {
		title := "Exit status:"
		if _, flag, found := strings.Cut(s.command, " "); found {
			title = "Exit status with " + flag + ":"
		}
		if name, _, _ := strings.Cut(s.command, " "); name != command {
			continue
		}
		fmt.Fprintf(&b, "\n\n%s", title)
		for code, means := range s.means {
			if means != "" {
				fmt.Fprintf(&b, "\n  %d  %s", code, wrapped(means, "     "))
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
		if slices.Contains(workersOwn, sub.Name()) {
			continue
		}
		if sub.Long == "" {
			sub.Long = sub.Short + "."
		}
		sub.Long = strings.TrimRight(sub.Long, "\n") + statusHelp(sub.Name())
	}
}
