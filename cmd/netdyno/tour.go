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

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// tourStop is a study of the tour, as it is typed.
type tourStop struct {
	study string
	args  []string
	takes time.Duration // by its plan
}

// inShort makes a quick study one of some 20 s: windows of 400 ms, seven blocks, no profiles.
func inShort(study string, args ...string) tourStop {
	return tourStop{study: study, args: append(args, "window=400ms", "warmup=100ms", "blocks=7", "probes=0")}
}

// quickTour asks what each publication asked, of arms that are workers in Go: what is
// built within a minute or two.
var quickTour = []tourStop{
	inShort("event-loops-quick", "arm=go-net,go-epoll", "connections=1000"),
	inShort("blocks-quick", "arm=http-pooled,http-readall,grpc-unary"),
	inShort("buffers-quick", "arm=w0-r0,w0-r128k,w128k-r0", "connections=1", "inflight=10"),
	inShort("messages-quick", "arm=http-json,grpc-json,grpc-proto", "baseline=http-json", "message=complex"),
	inShort("line-rate-quick", "arm=go-net,go-net-sendfile"),
}

// wholeTour has every arm whose worker is here, and profiles.
var wholeTour = each.Of([]string{"blocks-quick", "buffers-quick", "messages-quick", "line-rate-quick", "event-loops-quick", "mixed-quick", "languages-quick", "hops-quick"},
	func(name string) tourStop { return tourStop{study: name} })

func tourCommand() *cobra.Command {
	var out string
	var all bool
	c := &cobra.Command{
		Use:   "tour",
		Short: "Ask what five publications asked, in two minutes, and collect the answers on one page",
		Long: `Ask what each of five publications asked, in some 20 s each, of the workers in Go,
and collect the answers on one page. With --all every worker that is here runs, and
profiles say why arms differ: 15 minutes or more. Short windows make wide intervals:
for an answer to rely on, run the study itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := session.Directory(out).OrFresh("tour")
			if err != nil {
				return err
			}
			if all {
				return tour(cmd.Context(), dir, wholeTour)
			}
			return tour(cmd.Context(), dir, quickTour)
		},
	}
	outFlag(c, &out, "the tour")
	c.Flags().BoolVar(&all, "all", false, "every arm whose worker is here, with profiles")
	return c
}

// tour runs every stop into its own directory under dir. A study that cannot
// run is an entry with its reason; the others run all the same.
func tour(ctx context.Context, dir session.Directory, wanted []tourStop) error {
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		return err
	}
	stops, err := tourStops(wanted, func(t record.Trial) bool { return isHere(catalog, t) })
	if err != nil {
		return err
	}
	if len(stops) == 0 {
		return errors.New("tour: of no study two arms have their programs here; netdyno transports lists what is here")
	}
	stdout.say("%s", tourTime(stops))
	var entries []report.Entry
	var ends []error
	for i, at := range stops {
		name := at.study
		fmt.Fprintf(stdout, "\n— %d of %d: %s\n", i+1, len(stops), name)
		stop := session.Directory(filepath.Join(string(dir), name))
		on, why := tourRig(name, func(text string) error { return canBuild(ctx, text) })
		if why != "" {
			stdout.say("%s", why)
		}
		err := run(ctx, append([]string{name}, at.args...), runFlags{rig: on, out: string(stop)})
		entries = append(entries, entry(stop, name, err))
		ends = append(ends, err)
		if ctx.Err() != nil {
			break
		}
	}
	failed := together(ends)
	if err := os.MkdirAll(string(dir), 0o755); err != nil { // no study came so far
		return errors.Join(failed, err)
	}
	index := report.Index("The tour: what was asked, and the answers", entries)
	if err := render(dir.HTML(), index.HTML); err != nil {
		return errors.Join(failed, err)
	}
	if err := showText(index.Text); err != nil {
		return errors.Join(failed, err)
	}
	fmt.Fprintln(stdout)
	stdout.say("all of it  %s", dir.HTML())
	return failed
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

// tourStops are those stops in which two arms at least have their servers and hops here:
// of one there is nothing to compare.
func tourStops(wanted []tourStop, has func(record.Trial) bool) ([]tourStop, error) {
	var stops []tourStop
	for _, stop := range wanted {
		s, err := source.ParseArgs(append([]string{stop.study}, stop.args...), nil)
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
			stop.takes = session.Expected(study.Before(trials, s.Blocks))
			stops = append(stops, stop)
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
	if err != nil || !asksOfLink(s) && !slices.ContainsFunc(s.Compare.Primary, slow) {
		return rig.LoopbackName, "" // an error is the run's to tell
	}
	if err := build(tourLink); err != nil {
		return rig.LoopbackName, fmt.Sprintf("A link of 1 Gbit/s between two namespaces cannot be made here: %v. It runs on loopback, which is no link.", err)
	}
	return tourLink, ""
}

// asksOfLink tells whether a study expects something of the link's rate.
func asksOfLink(s *study.Study) bool {
	return slices.ContainsFunc(s.Expect, func(x record.Expectation) bool {
		return slices.ContainsFunc(x.That, func(text string) bool { return strings.HasPrefix(text, metric.LinkRateShare+" ") })
	})
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
		each = append(each, s.study+" "+quantity.Roughly(s.takes))
	}
	return fmt.Sprintf("The tour runs %d studies in about %s (%s), and ends with their answers.", len(each), quantity.Roughly(all), strings.Join(each, ", "))
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
