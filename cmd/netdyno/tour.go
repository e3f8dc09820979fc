package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/metric"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// quickStudies are the tour's stops: each built-in study in short.
var quickStudies = []string{"blocks-quick", "buffers-quick", "messages-quick", "line-rate-quick", "event-loops-quick", "mixed-quick", "languages-quick", "hops-quick"}

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
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		return err
	}
	stops, err := tourStops(func(t record.Trial) bool { return isHere(catalog, t) })
	if err != nil {
		return err
	}
	stdout.say("%s", tourTime(stops))
	var entries []report.Entry
	var worst error
	for i, at := range stops {
		name := at.study
		fmt.Fprintf(stdout, "\n— %d of %d: %s\n", i+1, len(stops), name)
		stop := session.Directory(filepath.Join(string(dir), name))
		on, why := tourRig(name, func(text string) error { return canBuild(ctx, text) })
		if why != "" {
			stdout.say("%s", why)
		}
		err := run(ctx, []string{name}, runFlags{rig: on, out: string(stop)})
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

// tourStop is a study of the tour, and how long it takes by its plan.
type tourStop struct {
	study string
	takes time.Duration
}

// isHere tells whether a trial's server has a worker here, and its hops are installed.
func isHere(catalog *bench.Catalog, t record.Trial) bool {
	_, err := catalog.Named(t.Levels["server"])
	work, bad := study.Decode(t.Levels)
	return err == nil && bad == nil && !slices.ContainsFunc(work.Path.Hops, func(h study.Hop) bool {
		_, missing := exec.LookPath(h.Transport)
		return missing != nil
	})
}

// tourStops are the quick studies in which two arms at least have their servers and hops
// here: of one there is nothing to compare.
func tourStops(has func(record.Trial) bool) ([]tourStop, error) {
	var stops []tourStop
	for _, name := range quickStudies {
		s, err := source.Named(name)
		if err != nil {
			return nil, err
		}
		trials, _, err := s.Plan()
		if err != nil {
			return nil, err
		}
		here := map[string]bool{}
		for _, t := range trials {
			if has(t) {
				here[t.Arm] = true
			}
		}
		if len(here) > 1 {
			stops = append(stops, tourStop{name, session.Expected(study.Before(trials, s.Blocks))})
		}
	}
	return stops, nil
}

// tourLink is the rig on which the tour asks what fills a link, and what waits on one behind
// large messages: loopback is none.
const tourLink = "netns:2?rate=1Gbit"

// tourRig is the rig of one stop: loopback, or for a study about a link one with a link.
// Where that cannot be built it is loopback, and why is a line on that.
func tourRig(name string, build func(rig string) error) (on, why string) {
	s, err := source.Named(name)
	slow := func(name string) bool { return slices.Contains(metric.SlowdownNames(), name) }
	if err != nil || s.Fills == nil && !slices.ContainsFunc(s.Compare.Primary, slow) {
		return rig.LoopbackName, "" // an error is the run's to tell
	}
	if err := build(tourLink); err != nil {
		return rig.LoopbackName, fmt.Sprintf("A link of 1 Gbit/s between two namespaces cannot be made here: %v. It runs on loopback, which is no link.", err)
	}
	return tourLink, ""
}

// canBuild builds a rig and takes it down.
func canBuild(ctx context.Context, text string) error {
	c, err := arrange.Parse(text, os.ReadFile)
	if err != nil {
		return err
	}
	built, err := c.Build(ctx)
	if err != nil {
		return err
	}
	return built.Close()
}

// tourTime says what the tour will do, and how long that takes by the plans.
func tourTime(stops []tourStop) string {
	var each []string
	var all time.Duration
	for _, s := range stops {
		all += s.takes
		each = append(each, s.study+" "+roughly(s.takes))
	}
	return fmt.Sprintf("The tour runs %d studies in about %s (%s), and ends with their answers.", len(each), roughly(all), strings.Join(each, ", "))
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
