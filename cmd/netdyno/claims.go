package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/read/claim"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

func claimsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "claims [DIR…]",
		Short: "List every claim of the built-in studies with what became of it in the last run",
		Long: `List every claim of the built-in studies: what a publication concludes, or a study
itself, with what became of it in the last of the runs in DIR…, of those under
results/ unless any is named. Of a claim that no run tested it says where it can
be tested, and by which command.`,
		RunE: func(_ *cobra.Command, args []string) error { return printClaims(args) },
	}
}

// printClaims lists the claims of every built-in study. Runs that cannot be read are
// named behind them.
func printClaims(args []string) error {
	dirs := session.Runs(session.ResultsRoot)
	if len(args) > 0 {
		dirs = nil
		for _, arg := range args {
			dirs = append(dirs, session.Directory(arg))
		}
	}
	tested, unread := claimsOfRuns(dirs)
	for _, name := range source.List() {
		s, err := source.Named(name)
		if err != nil {
			return err
		}
		if len(s.Claims) > 0 {
			stdout.say("%s", name)
		}
		for _, c := range s.Claims {
			printClaim(s, c, tested[[2]string{name, c.Title}])
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

// testedClaim is what became of a claim in a run.
type testedClaim struct {
	claim.Claim
	run session.Directory
}

// claimsOfRuns reads runs and returns what became of each study's claims in the last run
// in which it could be tested, else in the last one.
func claimsOfRuns(dirs []session.Directory) (tested map[[2]string]*testedClaim, unread []error) {
	var runs []reading
	at := map[string]session.Directory{}
	for _, d := range dirs {
		r, err := readRun(d)
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", d, err))
			continue
		}
		r.Header.Directory = string(d)
		runs, at[string(d)] = append(runs, r), d
	}
	slices.SortStableFunc(runs, func(a, b reading) int { return a.Header.CreatedAt.Compare(b.Header.CreatedAt) })
	tested = map[[2]string]*testedClaim{}
	for _, r := range runs {
		for _, c := range r.Claims {
			key := [2]string{r.Header.Study.Name, c.Spec.Title}
			if before := tested[key]; before == nil || c.Outcome != claim.NotTestable || before.Outcome == claim.NotTestable {
				tested[key] = &testedClaim{c, at[r.Header.Directory]}
			}
		}
	}
	return tested, unread
}

// printClaim prints a claim, its state, and on what that rests.
func printClaim(s *study.Study, c record.Claim, last *testedClaim) {
	state, ground := "not run here", cmp.Or(c.Unmeasured, record.WhereTested(s.Name, c.Under, s.Needs(c)...))
	if last != nil {
		state, ground = string(last.Outcome), cmp.Or(last.FigureWords(), last.Sentence)+" ("+string(last.run)+")"
		if last.Outcome == claim.NotTestable {
			ground = strings.TrimPrefix(last.Sentence, "Cannot be tested here: ") + " (" + string(last.run) + ")"
		}
	}
	stdout.say("  %-21s  %s", state, c.Title)
	if c.Source != "" {
		stdout.say("  %-21s  by %s", "", c.Source)
	}
	stdout.say("  %-21s  %s", "", ground)
}
