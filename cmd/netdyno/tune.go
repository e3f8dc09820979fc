package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/run/session"
	"netdyno/internal/run/tune"
)

// tuneFlags are the options of tune that are not those of run.
type tuneFlags struct {
	best    string
	within  []string
	options []string
	time    string
}

// Limits of a tuning.
const (
	tuneConfirm = 10                     // blocks that confirm the winner
	tuneWindow  = time.Second            // where no window is typed
	tuneWarmup  = 250 * time.Millisecond // likewise
	tuneTrial   = 400 * time.Millisecond // starting, connecting and ending
	mostTuned   = 24                     // settings, combinations included
	mostTime    = 24 * time.Hour
)

func tuneCommand() *cobra.Command {
	var f runFlags
	var t tuneFlags
	c := &cobra.Command{
		Use:   "tune TRANSPORT --for METRIC [KEY=LEVEL…]",
		Short: "Find the settings of a transport that are best for your load",
		Long: `Race the settings of a transport under your load: the values of each of its options
by itself, and combinations of two of them. Every block runs each setting that may
still be the best, with the defaults among them; what is worse is left out. The
winner is then compared with the defaults in fresh blocks, whose figures chose
nothing, and recommended only where these show it better.

The options, with the values that are tried, are those of the transport (netdyno
transports TRANSPORT); --options names others, or fewer. A bound of --within is kept
by what is recommended. What was run is a study like any other, with the section
race (docs/studies.md): netdyno run DIR --continue goes on with one that was stopped.`,
		Example: `  netdyno tune go-grpc request=64KiB response=64KiB connections=50 --for exchanges_per_s
  netdyno tune go-grpc connections=1000 --for exchanges_per_s --within 'server.rss_bytes <= 2GB'
  netdyno tune go-grpc --options opt.server.read_buffer,opt.server.write_buffer --for server.cpu_us_per_exchange --time 2m
  netdyno tune fasthttp rate=20k connections=100 --for response_p99_us --dry-run`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTransport,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.run(cmd.Context(), args, f)
		},
	}
	c.Flags().StringVar(&t.best, "for", "", "the metric that is to be best, in its own direction")
	c.Flags().StringArrayVar(&t.within, "within", nil, "a bound that settings must keep, such as 'server.rss_bytes <= 2GB'; repeatable")
	c.Flags().StringSliceVar(&t.options, "options", nil, "options to vary, such as opt.server.read_buffer (default: all that have a grid)")
	c.Flags().StringVar(&t.time, "time", "4m", "about how long the whole may take")
	rigFlag(c, &f.rig, "where the workers run")
	outFlag(c, &f.out, "the run")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the plan, its time and its warnings, and measure nothing")
	completeFlags(c, map[string]cobra.CompletionFunc{"for": completeMetric})
	return c
}

// completeMetric offers the metrics that can be best.
func completeMetric(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
	for _, m := range metric.All() {
		if m.Better != "" {
			words = append(words, m.Name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// run searches among the settings of the transport that the first argument names.
func (t tuneFlags) run(ctx context.Context, args []string, f runFlags) error {
	args, err := f.takeRig(args)
	if err != nil {
		return err
	}
	name := args[0]
	if strings.Contains(name, "=") {
		return fmt.Errorf("tune: found %q; expected a transport first, such as netdyno tune go-grpc", quantity.Clip(name, 80))
	}
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		return err
	}
	offer, err := catalog.Named(name)
	if err != nil {
		return err
	}
	if t.best == "" {
		return errors.New("tune: --for METRIC is missing; it says what the settings are to be best at, such as exchanges_per_s, response_p99_us or server.cpu_us_per_exchange")
	}
	p := looked{typed: args[1:]}
	for _, key := range []string{"transport", "server", "client", "compare.baseline"} {
		if p.sets(key) {
			return fmt.Errorf("tune: %s= is chosen by the command; leave it out", key)
		}
	}
	room, err := t.room(&p)
	if err != nil {
		return err
	}
	arms, err := tune.Plan(offer.Transport, t.options, p.sets, room)
	if err != nil {
		return err
	}
	for _, a := range arms {
		f.arms = append(f.arms, session.Arm{Given: "tune " + name, Name: a.Name, Levels: a.Levels})
	}
	p.lack("study", "tune-"+studyName(name))
	p.lack("question", "Which settings of "+name+" are best for "+metric.Shown(t.best).Label+"?")
	p.lack("transport", name)
	p.lack("compare.baseline", tune.Defaults)
	p.lack("compare.primary", t.best)
	p.lackBy("--for", "race.best", t.best)
	p.lackBy("--time", "race.time", t.time)
	if len(t.within) > 0 {
		p.lackBy("--within", "race.within", strings.Join(t.within, ", "))
	}
	f.typed, f.command, f.set = typedAfter(os.Args, "tune"), "tune", p.set
	return run(ctx, p.typed, f)
}

// room is how many settings may take part in the time, so that those that are left can run
// in two blocks and be confirmed; the run itself measures how long trials take. It sets the
// window and the warm-up where these are not typed.
func (t tuneFlags) room(p *looked) (int, error) {
	whole, err := quantity.ParseDuration(t.time)
	if err != nil || whole > mostTime {
		return 0, fmt.Errorf("tune: --time %s: expected a duration of at most %s, such as 4m", quantity.Clip(t.time, 40), quantity.DurationText(mostTime))
	}
	if !p.sets("amount") {
		p.lack("window", tuneWindow.String())
	}
	p.lack("warmup", tuneWarmup.String())
	each := tuneTrial
	for _, key := range []string{"window", "warmup"} {
		d, err := quantity.ParseDuration(p.level(key))
		if err != nil && p.sets(key) {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		each += d
	}
	room := int(min(mostTuned, (whole/each-2*tuneConfirm)/2))
	if room < 2 {
		return 0, fmt.Errorf("tune: --time %s: a race and its %d confirming blocks take at least %s", t.time, tuneConfirm, quantity.DurationText(each*(2*tuneConfirm+4)))
	}
	return room, nil
}
