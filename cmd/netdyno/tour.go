package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/read/report"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// quickStudies are the tour's stops: each built-in study in short.
var quickStudies = []string{"blocks-quick", "buffers-quick", "messages-quick", "line-rate-quick", "event-loops-quick"}

func tourCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "tour",
		Short: "Run the quick version of every study and collect their reports on one page",
		Long: `Run the quick version of every built-in study, one after the other, and collect
their reports on one page. Short windows make wide intervals: for a reliable
answer, run the study itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := session.Directory(out).OrFresh("tour")
			if err != nil {
				return err
			}
			return tour(cmd.Context(), dir)
		},
	}
	outFlag(c, &out, "the tour")
	return c
}

// tour runs every stop into its own directory under dir. A study that cannot
// run is an entry with its reason; the others run all the same.
func tour(ctx context.Context, dir session.Directory) error {
	words, err := tourTime()
	if err != nil {
		return err
	}
	stdout.say("%s", words)
	var entries []report.Entry
	var worst error
	for i, name := range quickStudies {
		fmt.Fprintf(stdout, "\n— %d of %d: %s\n", i+1, len(quickStudies), name)
		stop := session.Directory(filepath.Join(string(dir), name))
		err := run(ctx, []string{name}, runFlags{rig: rig.LoopbackName, out: string(stop)})
		entries = append(entries, entry(stop, name, err))
		if codeOf(err) > codeOf(worst) {
			worst = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := os.MkdirAll(string(dir), 0o755); err != nil { // no study came so far
		return errors.Join(worst, err)
	}
	index := report.Index("The tour: what was asked, and the answers", entries)
	if err := render(dir.HTML(), index.HTML); err != nil {
		return errors.Join(worst, err)
	}
	if err := showText(index.Text); err != nil {
		return errors.Join(worst, err)
	}
	fmt.Fprintln(stdout)
	stdout.say("all of it  %s", dir.HTML())
	return worst
}

// tourTime says what the tour will do, and how long that takes by the plans.
func tourTime() (string, error) {
	var each []string
	var all time.Duration
	for _, name := range quickStudies {
		s, err := source.Named(name)
		if err != nil {
			return "", err
		}
		trials, _, err := s.Plan()
		if err != nil {
			return "", err
		}
		takes := session.Expected(study.Before(trials, s.Blocks))
		all += takes
		each = append(each, name+" "+roughly(takes))
	}
	return fmt.Sprintf("The tour runs %d studies in about %s (%s), and ends with their answers.", len(each), roughly(all), strings.Join(each, ", ")), nil
}

// entry is a study's place in the tour's page.
func entry(d session.Directory, name string, failed error) report.Entry {
	r, err := readRun(d) // its problems were printed when it was concluded
	if err != nil {
		if failed != nil {
			err = failed
		}
		return report.Entry{Name: name, Tally: err.Error()}
	}
	return report.New(r.Findings).Entry(filepath.Join(name, filepath.Base(d.HTML())))
}
